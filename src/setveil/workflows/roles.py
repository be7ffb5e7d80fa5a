"""Roles for the columns of a table: what is proposed, why, and the commands that state it."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from setveil.core import Transactions
from setveil.core.columns import Column
from setveil.errors import InputError
from setveil.io.hierarchies.values import hierarchy_of_values
from setveil.io.options import ReadOptions
from setveil.io.profiles.cells import CellColumn, read_table
from setveil.io.profiles.looks import look_at
from setveil.io.profiles.proposal import ProposedRole, RoleProposal, propose
from setveil.io.roles import HIERARCHIES, OLDER, OPTION_OF
from setveil.models import MODELS, declared
from setveil.models.registry import usual_model
from setveil.workflows.policies import option_words

OUT = "release"
HEADERLESS = {"no_header": True}


@dataclass(frozen=True)
class ColumnRoles:
    """A proposed role for every column of a table.

    ``columns`` has one entry per column: ``name``, ``role``, ``reason``, ``looks_like``, ``n_values``, ``missing``,
    ``unique``, ``examples``, ``code_system``, ``hierarchy``, ``question``. ``questions`` are what the cells and names
    do not decide. ``commands`` state the roles, the proposed ones first. ``options()`` are the same for ``sv.read``.
    """

    source: str  # as commands name it
    proposal: RoleProposal
    is_partial: bool = False  # only the first rows were looked at
    reading: Mapping[str, Any] = field(default_factory=dict)  # how the table is read; commands say it, too

    @property
    def columns(self) -> tuple[ProposedRole, ...]:
        """One entry per column, in the order of the table."""
        return self.proposal.columns

    @property
    def questions(self) -> tuple[str, ...]:
        """What only the owner of the data can answer."""
        return self.proposal.questions

    @property
    def commands(self) -> tuple[str, ...]:
        """Commands that state roles: those that are proposed, and one for each other reading that is possible."""
        proposal = self.proposal
        ways = [(proposal.person, proposal.items)]
        ways += [(other, proposal.items) for other in proposal.other_people]
        ways += [(proposal.person, items) for items in proposal.other_items]
        return tuple(self._command(person, items) for person, items in ways if items)

    def options(self, person: str | None = None, items: Sequence[str] | None = None) -> dict[str, Any]:
        """The proposed roles as options of ``sv.read``; other columns of the person or the items instead, if given."""
        proposal = self.proposal
        person = proposal.person if person is None else person
        items = proposal.items if items is None else items
        options: dict[str, Any] = {}
        if person:
            options["person"] = self._stated(person)
        if items:
            options["item"] = [self._stated(name) for name in items]
        for role in ("known", "sensitive"):
            names = [name for name in proposal.named(role) if name != person and name not in items]
            if names:
                options[OPTION_OF[role]] = [self._stated(name) for name in names]
        hierarchies = {
            self._stated(one.name): one.hierarchy
            for one in proposal.columns
            if one.role == "known" and one.hierarchy not in ("", "flat") and one.name != person
        }
        if hierarchies:
            options[HIERARCHIES] = hierarchies
        return options | proposal.options | dict(self.reading)

    def _stated(self, name: str) -> str:
        """A column as an option names it: by its number from 1 where the name has a comma, or is not the only one."""
        named = [one for one in self.columns if one.name == name]
        is_plain = len(named) == 1 and name == name.strip() and not set(name) & set(",*?[=") and name
        return name if is_plain else str(named[0].place + 1)

    def _command(self, person: str, items: Sequence[str]) -> str:
        options = self.options(person, items)
        if "item" in options:
            options["item"] = _glob(options["item"], self.columns)
        parts = ["setveil", "anonymize", self.source, "-o", OUT, *option_words(options)]
        model = MODELS[usual_model(OPTION_OF["known"] in options)]
        parts += ["--model", model.name]
        for name, value in model.starting_values().items():
            parts += [declared(model)[name].flag, str(value)]
        if self.proposal.hierarchy and tuple(items) == self.proposal.items:
            parts += ["--hierarchy", self.proposal.hierarchy]
        return " ".join(map(shlex.quote, parts))

    def to_dict(self) -> dict[str, Any]:
        """The same for ``--json``."""
        proposal = self.proposal
        return {
            "source": self.source,
            "rows": proposal.n_rows,
            "partial": self.is_partial,
            "columns": [asdict(one) | {"place": one.place + 1, "examples": list(one.examples)} for one in self.columns],
            "person": proposal.person or None,
            "visits": list(proposal.visits),
            "items": list(proposal.items),
            "hierarchy": proposal.hierarchy or None,
            "questions": list(proposal.questions),
            "options": self.options(),
            "commands": list(self.commands),
        }

    def __str__(self) -> str:
        lines = [f"{one.name}: {one.role}. {one.reason}" for one in self.columns]
        return "\n".join((*lines, *self.questions, *self.commands))


def with_proposed_hierarchies(data: Transactions, stated: Mapping[str, str]) -> tuple[Transactions, dict[str, str]]:
    """Data whose known columns have the hierarchy that their values suggest, and what was chosen for which column.

    ``stated`` are the hierarchies that the user gave; they are not changed.
    """
    if data.columns is None:
        return data, {}
    chosen: dict[str, Column] = {}
    sources: dict[str, str] = {}
    for column in data.columns.with_role("known"):
        if column.name in stated or column.hierarchy is not None or "=" in column.name:
            continue
        values = tuple("" if value == column.missing else value for value in column.values)
        source = look_at(CellColumn(column.name, column.codes, values)).hierarchy
        if source not in ("", "flat"):
            try:
                chosen[column.name] = replace(column, hierarchy=hierarchy_of_values(source, column, "input"))
            except InputError:  # some of the values do not fit
                continue
            sources[column.name] = source
    return replace(data, columns=data.columns.replaced(chosen.values())), sources


def roles(source: Any, **options: Any) -> ColumnRoles:
    """Propose a role for every column of a table: person, item, known, sensitive, or drop.

    The proposal rests on what the cells hold and how columns depend on each other; names of columns are one more
    piece of evidence. Nothing is read as records yet.

    Args:
        source: a path, ``-``, a binary file object, a pandas, Polars or Arrow frame, or a list of dicts.
        options: ``delimiter``, ``no_header``, ``encoding`` and the like, as ``read`` takes them.

    Returns:
        The proposal, with reasons, questions and commands.

    Examples:
        >>> import setveil as sv
        >>> rows = [{"visit": f"v{n}", "patient": n // 3, "code": "ABCDE"[n % 5] + str(n % 7)} for n in range(90)]
        >>> sv.roles(rows).options()
        {'person': 'patient', 'item': ['code']}
    """
    stated = [name for name in (*OPTION_OF.values(), HIERARCHIES, *OLDER) if options.get(name)]
    if stated:
        named = ", ".join("--" + name.replace("_", "-") for name in stated)
        raise InputError(f"`roles` proposes the roles of all columns; remove {named}.")
    given = ReadOptions.of(options).checked()
    table = read_table(source, given)
    is_path = isinstance(source, str | os.PathLike)
    reading = {name: value for name, value in options.items() if value} | ({} if table.has_header else HEADERLESS)
    return ColumnRoles(os.fspath(source) if is_path else table.name, propose(table), table.is_partial, reading)


def _glob(names: Sequence[str], columns: Sequence[ProposedRole]) -> str:
    """``dx*`` for many columns that begin alike, if no other column does."""
    stem = re.sub(r"[0-9]+$", "", names[0])
    alike = [one.name for one in columns if one.name.startswith(stem)]
    return f"{stem}*" if stem and len(names) > 4 and sorted(alike) == sorted(names) else ",".join(names)
