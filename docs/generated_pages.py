"""Pages of the site that say what the code says: made when the site is built, so that they cannot fall behind.

MkDocs calls ``on_config``, ``on_files``, ``on_page_markdown`` and ``on_post_build``; ``pages()`` gives path → text.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "src"))

PARTS = {
    "The flow": "read anonymize verify measure risk attack publish run query progress_bar",
    "Deciding": "audit suggest compare models algorithms Policy",
    "Data": "Transactions Hierarchy check_hierarchy generate",
    "Releases": "Release Recoding LocalRecoding Replacement Grouping open_release verify_folder Verdict "
    "minimal_violations",
    "Privacy models": "KmAnonymity KAnonymity ConstraintAnonymity PrivacyDegree Coherence Uncertainty",
    "Errors": "SetveilError InputError InfeasibleError GuaranteeError CancelledError SetveilWarning",
}

FETCHED = {
    "html": re.compile(
        r"""<(?:script|img|iframe)[^>]+src=["']?(?:https?:)?//|<link[^>]+rel=["']?(?:stylesheet|preconnect)[^>]+//"""
    ),
    "css": re.compile(r"""@import|url\(['"]?https?:"""),
}


def on_config(config: Any) -> Any:
    """A page that nobody gave a place is listed at the end, so that none is missing."""
    listed = set(re.findall(r"[\w./-]+\.md", json.dumps(config.nav)))
    others = sorted(path.name for path in (ROOT / "docs").glob("*.md") if path.name not in listed)
    if others:
        config.nav.append({"More": others})
    _algorithm_pages(config.nav)
    return config


def _algorithm_pages(nav: list[Any]) -> None:
    """Every page of an algorithm in the navigation, below its model, with the overview first."""
    folder = ROOT / "docs" / "algorithms"
    for place in (part for entry in nav for part in entry.get("Reference", ())):
        if place.get("Algorithms") == "reference/algorithms.md":
            models = sorted(path for path in folder.iterdir() if path.is_dir())
            place["Algorithms"] = [
                {"Overview": "reference/algorithms.md"},
                *(
                    {
                        model.name.replace("_", "-"): [
                            f"algorithms/{model.name}/{page.name}" for page in sorted(model.glob("*.md"))
                        ]
                    }
                    for model in models
                ),
            ]


def on_files(files: Any, config: Any) -> Any:
    """MkDocs asks which pages there are."""
    from mkdocs.structure.files import File

    for path, text in pages().items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """A folder has no page of its own: the overview of algorithms stands for theirs."""
    return markdown.replace("](algorithms)", "](reference/algorithms.md)")


def on_post_build(config: Any) -> None:
    """The site opens without a network: a page or a style that fetches something fails the build."""
    for kind, fetched in FETCHED.items():
        for path in Path(config["site_dir"]).rglob(f"*.{kind}"):
            if fetched.search(path.read_text(encoding="utf-8")):
                sys.exit(f"{path}: fetches something from outside.")


def pages() -> dict[str, str]:
    """Every page that is made."""
    return {
        "index.md": _moved((ROOT / "README.md").read_text(encoding="utf-8")),
        "contributing.md": _moved((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")),
        "changelog.md": _moved((ROOT / "CHANGELOG.md").read_text(encoding="utf-8")),
        "notebooks.md": notebooks(),
        "gallery.md": gallery(),
        "reference/library.md": library(),
        "reference/commands.md": commands(),
        "reference/exit-codes.md": exit_codes(),
        "reference/policy.md": policy(),
        "reference/grid.md": grid(),
        "reference/certificate-schema.md": certificate_schema(),
        "reference/algorithms.md": algorithms(),
    }


def _moved(text: str) -> str:
    """A page of the repository's root as a page of the site: its links start one folder further down."""
    for folder, page in (("algorithms", "reference/algorithms.md"), ("notebooks", "notebooks.md")):
        text = text.replace(f"](docs/{folder})", f"]({page})")
    text = text.replace("](docs/", "](")
    text = text.replace("](CONTRIBUTING.md)", "](contributing.md)").replace("](CHANGELOG.md)", "](changelog.md)")
    return re.sub(r"\[([^\]]+)\]\((?:examples|SECURITY\.md|CITATION\.cff|CODE_OF_CONDUCT\.md|LICENSE)\)", r"\1", text)


# -- the library ------------------------------------------------------------------------------------------------------


def library() -> str:
    """Every public name, by what it is for."""
    import setveil

    listed = [name for names in PARTS.values() for name in names.split()]
    others = sorted(set(setveil.__all__) - set(listed) - {"__version__"})
    lines = ["# Library", "", "Everything is reached through `import setveil as sv`.", ""]
    for title, names in {**PARTS, **({"More": " ".join(others)} if others else {})}.items():
        lines += [f"## {title}", ""]
        for name in names.split():
            lines += [f"::: {_place(setveil, name)}", "    options:", f"      heading: sv.{name}", ""]
    lines += ["## scikit-learn", "", "::: setveil.sklearn.Anonymizer", "", "::: setveil.sklearn.KmAnonymizer", ""]
    lines += ["## Codebooks", "", "::: setveil.core.codebook.Codebook", ""]
    return "\n".join(lines)


def _place(package: Any, name: str) -> str:
    """Where a public name is defined."""
    value = getattr(package, name)
    return f"{value.__module__}.{value.__qualname__}"


# -- the command line -------------------------------------------------------------------------------------------------


def commands() -> str:
    """Every command with its arguments and options."""
    import typer

    from setveil.cli.main import app

    lines = ["# Commands", "", "`setveil COMMAND --help` says the same.", ""]
    root = typer.main.get_command(app)
    for name, command in sorted(root.commands.items()):  # type: ignore[attr-defined]
        inner = getattr(command, "commands", None)
        for words, one in [((name,), command)] if inner is None else [((name, sub), c) for sub, c in inner.items()]:
            lines += _command(words, one)
    return "\n".join(lines)


def _command(words: tuple[str, ...], command: Any) -> list[str]:
    name = "setveil " + " ".join(words)
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    given = "".join(f" {_metavar(p)}" for p in arguments)
    lines = [f"## {name}", "", f"`{name}{given} [OPTIONS]`", "", inspect.cleandoc(command.help or ""), ""]
    told = [p for p in command.params if not getattr(p, "hidden", False)]
    if told:
        lines += ["| | |", "|---|---|"]
        for parameter in told:
            shown = _metavar(parameter) if parameter in arguments else ", ".join(parameter.opts)
            needed = " (needed)" if parameter.required else ""
            lines.append(f"| `{_cell(shown)}`{needed} | {_cell(getattr(parameter, 'help', None) or '')} |")
        lines.append("")
    if command.epilog:
        lines += [f"`{command.epilog.removeprefix('Example: ')}`", ""]
    return lines


def _metavar(argument: Any) -> str:
    return str(argument.metavar or argument.name.upper())


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;")


def exit_codes() -> str:
    """The tree of errors, with their codes."""
    from setveil import errors

    kinds = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if hasattr(kind, "exit_code")]
    rows = sorted({(kind.exit_code, kind.__name__, (kind.__doc__ or "").split("\n")[0]) for kind in kinds})
    lines = ["# Exit codes", "", "| code | in Python | when |", "|---:|---|---|", "| 0 | – | Fine. |"]
    lines += [f"| {code} | `{name}` | {_cell(told)} |" for code, name, told in rows]
    return "\n".join([*lines, "| 141 | – | Whoever read the output has gone. |", ""])


# -- files ------------------------------------------------------------------------------------------------------------


def policy() -> str:
    """What a policy file may say."""
    from setveil.policy import schema

    lines = ["# policy.toml", "", _prose(schema.__doc__ or "", "toml"), ""]
    lines += _fields(schema.Policy.model_json_schema())
    return "\n".join(lines)


def grid() -> str:
    """What a grid file may say."""
    from setveil.models import PARAMETERS
    from setveil.workflows import grid as room

    keys = ", ".join(f"`{key}`" for key in (*room.OTHER_KEYS, *PARAMETERS))
    return "\n".join(["# grid.toml", "", _prose(room.__doc__ or "", "toml"), "", f"Keys of a block: {keys}.", ""])


def certificate_schema() -> str:
    """The certificate as a JSON Schema."""
    from setveil.report.certificate_schema import Certificate

    schema = json.dumps(Certificate.model_json_schema(by_alias=True), indent=2, sort_keys=True)
    intro = "What the fields mean is told [in words](../certificate.md); this is for programs (JSON Schema 2020-12)."
    return f"# Certificate schema\n\n{intro}\n\n```json\n{schema}\n```\n"


def _prose(text: str, language: str) -> str:
    """A module's docstring, its indented example as a block of code."""
    plain = inspect.cleandoc(text)
    example = re.compile(r"(?:^ {4}.*\n|^\n(?= {4}))+", re.MULTILINE)
    return example.sub(lambda found: f"```{language}\n{inspect.cleandoc(found[0])}\n```\n", plain + "\n")


def _fields(schema: dict[str, Any]) -> list[str]:
    lines: list[str] = []
    for name, part in [("(top)", schema), *schema.get("$defs", {}).items()]:
        rows = [
            f"| `{key}` | {_cell(_kind(value))} | {_cell(json.dumps(value['default'])) if 'default' in value else ''} |"
            for key, value in part.get("properties", {}).items()
        ]
        if rows:
            title = "Top level" if name == "(top)" else name.strip("_").removesuffix("Section")
            lines += [f"## {title}", "", "| key | takes | default |", "|---|---|---|", *rows, ""]
    return lines


def _kind(value: dict[str, Any]) -> str:
    if "anyOf" in value:
        return " or ".join(dict.fromkeys(_kind(part) for part in value["anyOf"] if part.get("type") != "null"))
    if "enum" in value or "const" in value:
        return " or ".join(json.dumps(choice) for choice in value.get("enum", [value.get("const")]))
    if "$ref" in value:
        return "a section"
    if value.get("type") == "array":
        return f"list of {_kind(value.get('items', {}))}"
    return {"string": "text", "integer": "whole number", "object": "table"}.get(value.get("type", ""), "value")


# -- overviews --------------------------------------------------------------------------------------------------------


def algorithms() -> str:
    """The registry, with a link to the page of each algorithm that has one."""
    import setveil

    pages = {path.stem: path.relative_to(ROOT / "docs") for path in sorted((ROOT / "docs/algorithms").rglob("*.md"))}
    lines = ["# Algorithms", "", "| algorithm | enforces | in one line | paper |", "|---|---|---|---|"]
    for entry in setveil.algorithms():
        page = pages.get(entry.name) or pages.get(entry.name.replace("+", "-"))
        name = f"[{entry.name}](../{page.as_posix()})" if page else f"`{entry.name}`"
        lines.append(f"| {name} | {', '.join(entry.models)} | {_cell(entry.summary)} | {_cell(entry.paper or '')} |")
    rest = ", ".join(f"[{stem}](../{path.as_posix()})" for stem, path in pages.items())
    return "\n".join([*lines, "", f"Their pages: {rest}.", ""])


def notebooks() -> str:
    """The notebooks, as they stand in the repository, with their outputs."""
    lines = ["# Notebooks", "", "In `docs/notebooks/` of the repository; the tests run them.", ""]
    for path in sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        for cell in cells:
            text = "".join(cell["source"])
            if cell["cell_type"] == "markdown":
                lines += [re.sub(r"^#", "##", text, flags=re.MULTILINE), ""]
            else:
                lines += ["```python", text, "```", ""]
                for output in cell["outputs"]:
                    shown = output.get("data", {"text/plain": output.get("text", "")})
                    if "image/png" in shown:
                        picture = "".join(shown["image/png"]).replace("\n", "")
                        lines += [f"![A chart, drawn by the cell above](data:image/png;base64,{picture})", ""]
                    else:
                        lines += ["```text", "".join(shown["text/plain"]).rstrip(), "```", ""]
    return "\n".join(lines)


def gallery() -> str:
    """Every picture of the docs."""
    lines = ["# Gallery", ""]
    for path in sorted([*(ROOT / "docs").rglob("*.svg"), *(ROOT / "docs").rglob("*.png")]):
        name = path.relative_to(ROOT / "docs").as_posix()
        lines += [f"[![{path.stem}]({name}){{ width=320 }}]({name})"]
    return "\n".join([*lines, ""])
