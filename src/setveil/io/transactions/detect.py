"""Which format a file has, detected from its first bytes, its extension and its first lines.

Only evidence decides, and it is said. A table of two columns and baskets of two items look alike; then the user is
asked instead, with the options that distinguish them.
"""

from __future__ import annotations

from setveil.io.formats.base import Format, Plan, Start
from setveil.io.formats.registry import FORMATS
from setveil.io.options import ReadOptions
from setveil.io.source import Source
from setveil.io.transactions.tables import plan_table


def _by_magic(source: Source) -> Format | None:
    """The format whose files begin with certain bytes, if these do."""
    start = source.start()
    return next((format for format in FORMATS.values() if format.magic and start.startswith(format.magic)), None)


def make_plan(source: Source, options: ReadOptions) -> Plan:
    """What to read the file as; the format is the user's, or detected."""
    if options.format is not None:
        named = FORMATS[options.format]
        options.check_for(named)
        if "no_header" in named.takes:  # a table, which another kind of file may hold as well
            named = _by_magic(source) or named
        return named.understand(source, options, f"--format {options.format}")
    binary = _by_magic(source)
    if binary is not None:
        return binary.understand(source, options, "the first bytes")
    start = Start(source, options)
    for format in FORMATS.values():
        if start.extension in format.extensions:
            return format.understand(source, options, f"the extension {start.extension}")
    if not start.first:
        raise source.error(
            "the file has only empty lines, so that its layout cannot be detected; use --format with one of "
            f"{', '.join(FORMATS)}.",
            1,
        )
    for format in FORMATS.values():
        plan = None if format.sniff is None else format.sniff(start)
        if plan is not None:
            return plan
    return plan_table(source, options)
