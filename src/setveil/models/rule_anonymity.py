"""Sensitive rules (PS-rules; Loukides, Gkoulalas-Divanis, Shao, DEXA 2010; Knowledge and Information Systems 2013)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, ClassVar, NamedTuple

from setveil.errors import InputError, one_line
from setveil.models.base import MINIMALITY, NEGATIVE_KNOWLEDGE, REPEATED_RELEASES, Advice, Attacker, PrivacyModel
from setveil.models.parameters import Kind, Ratio, Whole, label_tuple, parameter
from setveil.words import terms

ARROW = "=>"
ITEM = re.compile(r'\s*(?:"((?:[^"]|"")*)"\s*|([^",]*))(,|$)')
_share = cache(Fraction)
OWN = re.compile(r"\[\s*([kc])\s*=\s*([^\s,\]]+)\s*(?:,\s*([kc])\s*=\s*([^\s,\]]+)\s*)?\]\s*$")


class Rule(NamedTuple):
    """Public items that an attacker may know, the sensitive items to infer, and limits of its own.

    ``k`` 0 and ``c`` "" mean those of the model.
    """

    known: tuple[str, ...]
    sensitive: tuple[str, ...]
    k: int = 0
    c: str = ""

    @property
    def items(self) -> tuple[str, ...]:
        """All items, public ones first."""
        return self.known + self.sensitive

    def __str__(self) -> str:
        """As a line of a file with rules."""
        own = ", ".join(f"{name}={value}" for name, value in (("k", self.k), ("c", self.c)) if value)
        return f"{_joined(self.known)} {ARROW} {_joined(self.sensitive)}" + (f" [{own}]" if own else "")


def read_rule(line: str) -> Rule:
    """A rule from text: ``a,b => S``, or with limits of its own ``a,b => S [k=5, c=1/3]``.

    Items with a comma, a quote, ``=>`` or ``[`` stand in double quotes. Raises InputError.
    """
    text, own = line, {}
    found = OWN.search(line)
    if found and line[: found.start()].count('"') % 2 == 0:
        text = line[: found.start()]
        own = {name: value for name, value in (found.group(1, 2), found.group(3, 4)) if name}
        if found.group(1) == found.group(3):
            raise InputError(f'"{one_line(line)}" gives {found.group(1)} twice; keep one.')
    sides = _sides(text)
    if len(sides) != 2:
        raise InputError(f'"{one_line(line)}" is not a rule; write it as in "a,b {ARROW} S".')
    k = Whole(2).check("k", Whole().parse(own["k"])) if "k" in own else 0
    c = Ratio().check("c", own["c"]) if "c" in own else ""
    known, sensitive = map(_items, sides)
    return make_rule(known, sensitive, k, c)


def make_rule(known: Iterable[str], sensitive: Iterable[str], k: Any = 0, c: Any = "") -> Rule:
    """A rule whose sides are checked."""
    rule = Rule(label_tuple(known, "a rule's left side"), label_tuple(sensitive, "a rule's right side"))
    for side, what in ((rule.known, "left"), (rule.sensitive, "right")):
        if not side or "" in side:
            raise InputError(f"the {what} side of a rule is empty or has an empty item; name its items.")
    both = sorted(set(rule.known) & set(rule.sensitive))
    if both:
        raise InputError(f'item "{one_line(both[0])}" is on both sides of a rule; remove it from one.')
    return rule._replace(k=Whole(2).check("k", k) if k else 0, c=Ratio().check("c", c) if c else "")


def refuse_two_roles(rules: Iterable[Rule]) -> None:
    """An item that one rule calls known and another one sensitive would be neither public nor sensitive."""
    rules = list(rules)
    known = {item for rule in rules for item in rule.known}
    both = sorted(known.intersection(item for rule in rules for item in rule.sensitive))
    if both:
        raise InputError(
            f'item "{one_line(both[0])}" is on the left side of one rule and on the right side of another; an item is '
            "either public or sensitive. Remove it from one side."
        )


@dataclass(frozen=True)
class Rules(Kind):
    """A list of rules: texts, or pairs of lists; in a policy and on the command line also a file with one per line."""

    is_list: ClassVar[bool] = True

    def check(self, name: str, value: Any) -> Any:
        if isinstance(value, str) or not isinstance(value, Collection):
            raise InputError(f'{name} must be a list of rules such as "a,b {ARROW} S", not one value.')
        rules = []
        for number, one in enumerate(value, start=1):
            try:
                rules.append(as_rule(one))
            except InputError as problem:
                raise InputError(f"rule {number}: {problem}") from None
        refuse_two_roles(rules)
        return tuple(sorted(set(rules)))

    def labels(self, value: Any) -> set[str]:
        return {item for rule in value or () for item in rule.items}

    @property
    def range(self) -> str:
        return f"a file with one rule per line, such as a,b {ARROW} S; own limits follow as [k=5, c=1/3]"


def as_rule(given: Any) -> Rule:
    """A rule from text, or from two lists of items."""
    if isinstance(given, str):
        return read_rule(given)
    parts = list(given) if isinstance(given, Sequence) else []
    if not 2 <= len(parts) <= 4:
        raise InputError(f'write it as "a,b {ARROW} S", or as two lists of items.')
    return make_rule(*parts)


def _sides(text: str) -> list[str]:
    """The text split at arrows that do not stand in quotes."""
    parts = text.split('"')
    marked = [part if number % 2 else part.replace(ARROW, "\0") for number, part in enumerate(parts)]
    return '"'.join(marked).split("\0")


def _items(side: str) -> list[str]:
    """Items separated by commas; blanks around them count in quotes only."""
    items, at = [], 0
    while at <= len(side):
        found = ITEM.match(side, at)
        if found is None:
            raise InputError(f'"{one_line(side)}": quote items that contain commas or quotes, and close every quote.')
        quoted, bare, _ = found.groups()
        items.append(bare.strip() if quoted is None else quoted.replace('""', '"'))
        at = found.end() if found.end() < len(side) or found.group(3) else len(side) + 1
    return items


def _joined(items: Iterable[str]) -> str:
    return ",".join(
        '"{}"'.format(item.replace('"', '""')) if re.search(r'[",\[]|=>|^\s|\s$', item) else item for item in items
    )


@dataclass(frozen=True, repr=False)
class RuleAnonymity(PrivacyModel):
    """For each rule, at least ``k`` records or none match its left side, and at most the share ``c`` of them has its
    right side.

    Args:
        k: smallest number of records that match the left side of a rule, unless there are none.
        c: largest share of these with the right side: a fraction such as ``"1/3"``, or a decimal.
        rules: texts such as ``"a,b => S"``, or pairs of lists of items.

    Raises:
        InputError: ``k`` is below 2, ``c`` is not between 0 and 1, or an item is both public and sensitive.

    Examples:
        >>> import setveil as sv
        >>> model = sv.RuleAnonymity(k=5, c="1/2", rules=["flu,cough => hiv", (["rash"], ["hiv"])])
        >>> model
        RuleAnonymity(k=5, c='1/2', rules=<2>)
        >>> [str(rule) for rule in model.rules]
        ['cough,flu => hiv', 'rash => hiv']
    """

    name: ClassVar[str] = "rules"
    title: ClassVar[str] = "Limit what the combinations that I list reveal about sensitive items"
    verifier: ClassVar[str] = "setveil.verify.rules:check"
    picture: ClassVar[str] = "pair"
    advice: ClassVar[Advice] = Advice(
        keep_more="Fewer rules, a smaller k or a larger c can keep more.",
        protect_more="Add rules, choose a larger k or a smaller c",
        weaker="Choose fewer rules, a smaller k or a larger c.",
    )
    start: ClassVar[Mapping[str, Any]] = {"k": 5, "c": "1/2"}
    private: ClassVar[tuple[str, ...]] = ("rules",)
    private_name: ClassVar[str] = "sensitive rules"
    depends_on_suppressed: ClassVar[bool] = True
    alternatives: ClassVar[tuple[str, ...]] = (
        "ρ-uncertainty (model uncertainty), if no known items at all may reveal a sensitive item.",
        "Privacy constraints (model constraints), if only the number of matching records counts.",
    )
    glossary: ClassVar[Mapping[str, str]] = terms("sensitive rule", "sensitive item")
    already_met: ClassVar[str] = (
        "Every rule is met already. What other combinations of items reveal is not limited: list those that an "
        "attacker may know."
    )
    example: ClassVar[Mapping[str, Any]] = {"k": 2, "c": "1/2", "rules": ["1,2 => 9"]}

    k: int = parameter(
        Whole(2), "Smallest number of records that match the left side of a rule, unless none does.", flag="-k",
        label="k: smallest number of matching people", slider=(2, 50),
    )  # fmt: skip
    c: str = parameter(
        Ratio(), "Largest share of these records with the right side of the rule, as 1/3 or 0.2.", flag="--confidence",
        label="c: largest probability of the sensitive items",
    )  # fmt: skip
    rules: Sequence[Rule] = parameter(
        Rules(), f"Sensitive rules: a file with one per line, such as a,b {ARROW} S.", protects=True,
        label=f"Rules such as a,b {ARROW} S: items that an attacker may know, and sensitive items.",
    )  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        own = [rule._replace(k=rule.k or self.k, c=rule.c or self.c) for rule in self.rules]
        plain = (r._replace(k=0, c="") if (r.k, r.c) == (self.k, self.c) else r for r in own)
        object.__setattr__(self, "rules", tuple(sorted(set(plain))))

    def options(self) -> dict[str, Any]:
        return {**super().options(), "rules": [_plain_rule(rule) for rule in self.rules]}

    def limits(self, rule: Rule) -> tuple[int, Fraction]:
        """The smallest number of records and the largest share that apply to a rule."""
        return rule.k or self.k, _share(rule.c or self.c)

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The items on the right side of any rule."""
        return tuple(sorted({item for rule in self.rules for item in rule.sensitive}))

    @property
    def listed_items(self) -> set[str]:
        return {item for rule in self.rules for item in rule.items}

    def lists_within(self, occurring: Collection[str]) -> dict[str, Any]:
        known = frozenset(occurring)
        return {"rules": [_plain_rule(rule) for rule in self.rules if known.issuperset(rule.items)]}

    def attacker(self) -> Attacker:
        return Attacker(
            "the public items on the left side of one of the owner's rules",
            "to learn whether a person who has them also has the sensitive items on its right side",
            f"no record, or at least {self.k} records of which at most {self.c} have these sensitive items",
        )

    def guarantee(self) -> str:
        return (
            "Anyone who knows that a person has the public items of one of the owner's rules matches at least "
            f"{self.k} published records, or none, and infers its sensitive items with a probability of at most "
            f"{self.c}. A rule may state limits of its own."
        )

    def not_protected(self) -> list[str]:
        return [
            "Combinations of items that are not the left side of a rule: they may reveal a sensitive item with "
            "certainty.",
            "Attackers who know a sensitive item of a person already.",
            "Singling out: a record may be unique, so its public items can be re-identified.",
            NEGATIVE_KNOWLEDGE,
            "Categories derived from the data: which items were generalized together tells something about their "
            "counts.",
            REPEATED_RELEASES,
            MINIMALITY,
        ]


def _plain_rule(rule: Rule) -> list[Any]:
    sides: list[Any] = [list(rule.known), list(rule.sensitive)]
    return [*sides, rule.k, rule.c] if rule.k else sides
