"""What names a hierarchy in options and policies: how to build it, or the file it stands in and how to read that."""

from __future__ import annotations

from collections.abc import Callable

from setveil.io.hierarchies.systems.registry import SYSTEMS

FILE_FORMATS = ("csv", "edges", "amnesia", "amnesia-json", "nodes", "paths", "indented", "mesh")
BUILT = ("fanout", "levels", "prefix", "auto", *SYSTEMS)


def is_built_hierarchy(source: str) -> bool:
    """Whether a hierarchy is built by setveil (``fanout:5``, columns of the input) rather than read from a file."""
    return source.partition(":")[0] in BUILT or is_of_input(source)


def is_of_input(source: str) -> bool:
    """Whether a hierarchy stands in columns of the input itself: ``columns:category,subcategory``."""
    kind, _, rest = source.partition(":")
    return kind == "columns" and ":" not in rest


def parts_of_source(source: str) -> tuple[str | None, list[str] | None, str]:
    """``(format, columns, file)`` of a file, ``FORMAT:FILE``, ``columns:LEAF,…,TOP:FILE`` or ``columns:A,B``."""
    kind, _, rest = source.partition(":")
    if kind == "columns":
        columns, _, file = rest.partition(":")
        return None, columns.split(","), file
    return (kind, None, rest) if kind in FILE_FORMATS and rest else (None, None, source)


def with_file(source: str, change: Callable[[str], str]) -> str:
    """The same source with another file."""
    file = parts_of_source(source)[2]
    return source.removesuffix(file) + change(file)


def source_of(
    hierarchy: str | None, format: str | None = None, columns: str | None = None, data_file: str = ""
) -> str | None:
    """The text behind ``--hierarchy``, ``--hierarchy-format`` and ``--hierarchy-columns``; columns may be those of the
    data file.
    """
    if columns is not None:
        return f"columns:{columns}:{hierarchy or data_file}"
    return f"{format}:{hierarchy}" if format and hierarchy else hierarchy
