"""Sensitive rules, one per line: ``a,b => S``, with limits of its own as ``a,b => S [k=5, c=1/3]``.

An item may be a glob (``493.*``) or a subtree of the hierarchy (``@subtree:Asthma``). It stands for one of the items it
means at a time, as in privacy constraints: ``493.* => B20`` is one rule for every code that matches. On the left side
a pattern stands for public items only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

from setveil.core import Hierarchy, Vocabulary
from setveil.core.text_files import open_text
from setveil.errors import InputError, one_line
from setveil.models import Rule
from setveil.models.rule_anonymity import as_rule, read_rule, refuse_two_roles
from setveil.policy.constraints import MOST_CONSTRAINTS, meant


def resolve_rules(
    given: str | Path | Iterable[Any], vocabulary: Vocabulary, hierarchy: Hierarchy | None = None
) -> list[Rule]:
    """Rules from a file or from a list, patterns expanded, each once, in order."""
    written = list(_read(given) if isinstance(given, str | Path) else _numbered(given))
    rights = [[meant([item], vocabulary, hierarchy, where) for item in rule.sensitive] for where, rule in written]
    sensitive = {item for right in rights for choice in right for item in choice}
    chosen: dict[Rule, None] = {}
    for (where, rule), right in zip(written, rights, strict=True):
        left = [_public(item, sensitive, vocabulary, hierarchy, where) for item in rule.known]
        n_meant = prod(len(choice) for choice in (*left, *right))
        if n_meant > MOST_CONSTRAINTS:
            raise InputError(
                f"{where}: matches {n_meant:,} rules, more than {MOST_CONSTRAINTS:,}; use narrower patterns."
            )
        for known in product(*left):
            for inferred in product(*right):
                sides = tuple(sorted(set(known))), tuple(sorted(set(inferred)))
                chosen[rule._replace(known=sides[0], sensitive=sides[1])] = None
    if not chosen:
        raise InputError("rules: the list is empty, so nothing is protected; list what known items must not reveal.")
    refuse_two_roles(chosen)
    return list(chosen)


def write_rules(rules: Iterable[Rule], path: str | Path) -> int:
    """Rules as a file that ``resolve_rules`` reads; returns how many."""
    count = 0
    with open(path, "w", encoding="utf-8", newline="") as target:
        for rule in rules:
            if any(sign in item for item in rule.items for sign in "\r\n"):
                raise InputError(f'item "{one_line("".join(rule.items))}" has a line break; rename it in the data.')
            target.write(f"{rule}\n")
            count += 1
    return count


def _public(
    item: str, sensitive: set[str], vocabulary: Vocabulary, hierarchy: Hierarchy | None, where: str
) -> list[str]:
    """The items that a pattern on the left side means; a plain item means itself."""
    found = meant([item], vocabulary, hierarchy, where)
    if found == [item]:
        return found
    public = [label for label in found if label not in sensitive]
    if not public:
        raise InputError(f'{where}: "{item}" matches sensitive items only; name public items on the left side.')
    return public


def _read(path: str | Path) -> Iterator[tuple[str, Rule]]:
    with open_text(path) as source:
        for number, line in enumerate(source, start=1):
            where = f"{path}:{number}"
            if "\0" in line:
                raise InputError(f"{where}: contains NUL bytes; use a text file.")
            if line.strip():
                try:
                    yield where, read_rule(line.strip())
                except InputError as problem:
                    raise InputError(f"{where}: {problem}") from None


def _numbered(given: Iterable[Any]) -> Iterator[tuple[str, Rule]]:
    for number, one in enumerate(given, start=1):
        try:
            yield f"rule {number}", as_rule(one)
        except InputError as problem:
            raise InputError(f"rule {number}: {problem}") from None
