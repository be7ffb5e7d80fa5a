"""The pages' templates, compiled once and kept beside the package's bytecode: compiling takes longer than filling in.

A page is one file without anything from outside: style and script stand in it, and its content policy allows nothing
else.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from jinja2 import BytecodeCache, Environment, FileSystemLoader, StrictUndefined
from jinja2.bccache import Bucket

from setveil.errors import printable
from setveil.report.words import figure, percent

FOLDER = Path(__file__).parent / "templates"


class _Kept(BytecodeCache):
    """Jinja checks version and source of what it finds; where nothing can be written, it compiles every time."""

    def load_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError), self._file(bucket).open("rb") as kept:
            bucket.load_bytecode(kept)

    def dump_bytecode(self, bucket: Bucket) -> None:
        file = self._file(bucket)
        with suppress(OSError):
            file.parent.mkdir(exist_ok=True)
            with NamedTemporaryFile("wb", dir=file.parent, delete=False) as partial:
                bucket.write_bytecode(partial)
            Path(partial.name).replace(file)

    @staticmethod
    def _file(bucket: Bucket) -> Path:
        return FOLDER.parent / "__pycache__" / f"page-2-{bucket.key}.jinja"  # 2: harmless values


def _harmless(value: Any) -> Any:
    """Labels with marks that turn the direction of writing are shown with escapes; what is a part of the page stays."""
    return printable(value, kept="\n\t") if type(value) is str and not value.isprintable() else value


@cache
def _environment() -> Environment:
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=FileSystemLoader(FOLDER),
        bytecode_cache=_Kept(),
        auto_reload=False,
        finalize=_harmless,
    )
    environment.filters.update(figure=figure, percent=percent)
    return environment


@cache
def _dress() -> dict[str, str]:
    """Style and script of every page, with the hashes its content policy names."""
    parts: dict[str, str] = {}
    for name, files in (("style", ("colours.css", "parts.css", "style.css")), ("script", ("page.js",))):
        text = _joined(files)
        parts[name] = text
        parts[f"{name}_hash"] = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return parts


def shared_style() -> tuple[str, str]:
    """The colours, light and dark, and the look of charts and lights, for pages that are not files of their own."""
    return _joined(("colours.css",)), _joined(("parts.css",))


def _joined(files: Sequence[str]) -> str:
    return "".join((FOLDER / file).read_text(encoding="utf-8") for file in files)


def render_page(template: str, **content: Any) -> str:
    """Fill in a template; the same content gives the same text."""
    page = _environment().get_template(template).render(**_dress(), **content)
    return re.sub(r"(?<=\d) %", "\N{NO-BREAK SPACE}%", page)  # a figure and its sign stay on one line


def write_page(template: str, path: Path, **content: Any) -> None:
    """Fill in a template into a file; the same content gives the same bytes."""
    path.write_text(render_page(template, **content), encoding="utf-8", newline="\n")
