"""Columns by their names: where the columns stand that a user named."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from setveil.errors import InputError, name_some
from setveil.io.formats.base import PlannedColumn
from setveil.io.options import ReadOptions
from setveil.io.roles import OPTION_OF
from setveil.io.source import one_line


def stated_columns(
    names: Sequence[str], options: ReadOptions, where: str
) -> tuple[tuple[PlannedColumn, ...], ReadOptions]:
    """The positions of the columns with a stated role, and the options with persons and items by name.

    A number means a place among all columns, and would mean another one among those that are left.
    """
    if not options.roles.columns:
        return (), options
    role_of: dict[int, str] = {}
    found: list[PlannedColumn] = []
    for column in options.roles.columns:
        option = "--" + OPTION_OF[column.role].replace("_", "-")
        place = find_column(names, column.name, option, where)
        if place in role_of:
            raise _two_roles(names[place], role_of[place], column.role, where)
        role_of[place] = column.role
        found.append(PlannedColumn(place, column.role, column.hierarchy))
    named: dict[str, Any] = {}
    for name, option, role in (("id_column", "--person", "person"), ("item_column", "--item", "item")):
        wanted = getattr(options, name)
        if wanted is not None:
            place = find_column(names, wanted, option, where)
            if place in role_of:
                raise _two_roles(names[place], role_of[place], role, where)
            named[name] = names[place]
    several = match_columns(names, options.item_columns, where)
    for place in several:
        if place in role_of and names[place] in options.item_columns:
            raise _two_roles(names[place], role_of[place], "item", where)
    items = tuple(names[place] for place in several if place not in role_of)
    return tuple(found), replace(options, item_columns=items, **named)


def _two_roles(name: str, one: str, other: str, where: str) -> InputError:
    return InputError(
        f'{where}: column "{one_line(name, 60)}" has two roles ({one} and {other}); give every column one role.'
    )


def find_column(names: Sequence[str], wanted: str, option: str, where: str, shown: str = "") -> int:
    """The place of a column by its name, or by its number from 1 where no column has that name."""
    found = [place for place, name in enumerate(names) if name == wanted]
    if len(found) > 1:
        raise InputError(f'{where}: the header names column "{one_line(wanted)}" {len(found)} times; rename one.')
    if found:
        return found[0]
    if re.fullmatch("[0-9]{1,9}", wanted) and 0 < int(wanted) <= len(names):
        return int(wanted) - 1
    shown = shown or f"the columns are {name_some(map(one_line, names), 20)}"
    raise InputError(f'{where}: {shown} and no column "{one_line(wanted)}"; correct {option}.')


def match_columns(names: Sequence[str], wanted: Sequence[str], where: str) -> list[int]:
    """The positions of the columns that names, numbers or globs stand for, in the table's order."""
    positions: set[int] = set()
    for pattern in wanted:
        found = [place for place, name in enumerate(names) if name == pattern or fnmatch.fnmatchcase(name, pattern)]
        if not found:
            found = [find_column(names, pattern, "--item-columns", where)]  # by its number
        positions.update(found)
    return sorted(positions)
