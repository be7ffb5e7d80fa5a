"""The report's template, compiled once and kept beside the package's bytecode: compiling it takes longer than filling it in."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import NamedTemporaryFile

from jinja2 import BytecodeCache, Environment, FileSystemLoader, StrictUndefined, Template
from jinja2.bccache import Bucket

from setveil.report.words import figure, percent

FOLDER = Path(__file__).parent


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
        return FOLDER / "__pycache__" / f"report-{bucket.key}.jinja"


@cache
def report_template() -> Template:
    """The page, ready to be filled in."""
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=FileSystemLoader(FOLDER),
        bytecode_cache=_Kept(),
        auto_reload=False,
    )
    environment.filters.update(figure=figure, percent=percent)
    return environment.get_template("report.html.j2")
