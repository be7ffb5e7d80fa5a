"""Roles of columns: who is a person, what are items, what an attacker may know. Declared here, once.

A role is stated by an option of reading (``--known-columns age``) or in a policy (``[columns.age] role = "known"``).
Columns without a role are not read, and the summary of a reading names them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from setveil.errors import InputError, one_line

OPTION_OF = {
    "person": "person",
    "item": "item",
    "known": "known_columns",
    "sensitive": "sensitive_columns",
    "carry": "carry",
    "drop": "drop",
}  # role: the option that states it
HIERARCHIES = "column_hierarchy"
READ_ROLES = ("known", "sensitive", "carry")  # of columns that come with the records
OLDER = ("id_column", "item_column", "item_columns")  # other names of ``person`` and ``item``


class StatedColumn(NamedTuple):
    """A column as the user named it: a name, or a number from 1."""

    name: str
    role: str
    hierarchy: str | None = None


@dataclass(frozen=True)
class Roles:
    """What was stated about columns."""

    person: str | None = None
    items: tuple[str, ...] = ()  # names or patterns
    columns: tuple[StatedColumn, ...] = ()  # known, sensitive, carried and dropped ones
    hierarchies: tuple[tuple[str, str], ...] = ()  # column, hierarchy

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Roles:
        """From the options of reading that state roles."""
        person = given.get("person")
        return cls(
            None if person is None else str(person),
            names_in(given.get("item")),
            tuple(
                StatedColumn(name, role)
                for role, option in OPTION_OF.items()
                if role not in ("person", "item")
                for name in names_in(given.get(option))
            ),
            tuple(pairs_in(given.get(HIERARCHIES))),
        )

    def checked(self, person: str | None, items: Iterable[str | None]) -> Roles:
        """With the hierarchy of each column; a column with two roles is refused."""
        if self == Roles():
            return self
        role_of: dict[str, str] = {} if person is None else {person: "person"}
        named = [*((name, "item") for name in items if name), *((one.name, one.role) for one in self.columns)]
        for name, role in named:
            if name in role_of:
                twice = "is named twice" if role_of[name] == role else f"has two roles ({role_of[name]} and {role})"
                raise InputError(f'column "{one_line(name, 60)}" {twice}; give every column one role.')
            role_of[name] = role
        hierarchies = dict(self.hierarchies)
        if len(hierarchies) < len(self.hierarchies):
            raise InputError("--column-hierarchy names a column twice; give every column one hierarchy.")
        for name in hierarchies:
            if role_of.get(name) != "known":
                raise InputError(
                    f'--column-hierarchy "{one_line(name, 60)}" is not a known column; name it in --known-columns, or '
                    "remove its hierarchy."
                )
        columns = tuple(one._replace(hierarchy=hierarchies.get(one.name)) for one in self.columns)
        return replace(self, columns=columns, hierarchies=())


def names_in(given: str | int | Sequence[str | int] | None) -> tuple[str, ...]:
    """``a,b`` or a list as names."""
    if given is None:
        return ()
    several = given.split(",") if isinstance(given, str) else [given] if isinstance(given, int) else given
    return tuple(text for name in several if (text := str(name).strip()))


def pairs_in(given: Mapping[str, str] | str | Sequence[str] | None) -> Iterable[tuple[str, str]]:
    """``{"age": "bands:5"}``, ``"age=bands:5"`` or a list of such."""
    if isinstance(given, Mapping):
        return [(str(name), str(source)) for name, source in given.items()]
    pairs = []
    for text in [given] if isinstance(given, str) else given or ():
        name, equals, source = str(text).partition("=")
        if not equals or not name.strip() or not source.strip():
            raise InputError(f'--column-hierarchy takes COLUMN=HIERARCHY, not "{one_line(str(text))}".')
        pairs.append((name.strip(), source.strip()))
    return pairs


def as_tables(given: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Options that state roles as the tables ``[columns.NAME]`` of a policy."""
    roles = Roles.of({**given, "person": given.get("person", given.get("id_column"))})
    items = roles.items or names_in(given.get("item_columns")) or names_in([given.get("item_column", "")])
    roles.checked(roles.person, items)
    tables = {} if roles.person is None else {roles.person: {"role": "person"}}
    tables |= {name: {"role": "item"} for name in items}
    tables |= {one.name: {"role": one.role} for one in roles.columns}
    for name, source in roles.hierarchies:
        tables[name]["hierarchy"] = source
    return tables


def as_options(tables: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Tables ``[columns.NAME]`` of a policy as options of reading."""
    options: dict[str, Any] = {}
    for role, option in OPTION_OF.items():
        names = [name for name, table in tables.items() if table["role"] == role]
        if role == "person" and len(names) > 1:
            raise InputError(f'columns "{names[0]}" and "{names[1]}" cannot both identify people; choose one.')
        if names:
            options[option] = names[0] if role == "person" else names
    hierarchies = {name: table["hierarchy"] for name, table in tables.items() if table.get("hierarchy")}
    return {**options, HIERARCHIES: hierarchies} if hierarchies else options
