"""Records with rules, and what an algorithm makes of them."""

from __future__ import annotations

import random

import setveil as sv
from tests.naive import rules as naive

EXAMPLE = [frozenset(row) for row in ("abd", "acST", "bd", "abT", "abT", "ad", "acd", "bcdST")]


MODEL = sv.RuleAnonymity(2, "1/2", ["a,b => S", "c => S", "a,d => T", "b,c => T"])  # type: ignore[list-item]


def plain(model: sv.RuleAnonymity) -> list[naive.Rule]:
    return [(rule.known, rule.sensitive, *model.limits(rule)) for rule in model.rules]


def parts_of(release: sv.Release, public: str) -> naive.Parts:
    return sorted(items for items in release.codebook().values() if set(items) & set(public))


def run(records: list[frozenset[str]], model: sv.RuleAnonymity, algorithm: str, **options: int) -> sv.Release:
    return sv.anonymize([sorted(record) for record in records], model, algorithm, options=options)


def random_ask(chance: random.Random, most: int = 5) -> tuple[list[frozenset[str]], sv.RuleAnonymity]:
    public = "abcde"[: chance.randint(2, most)]
    share = chance.choice((0.3, 0.5, 0.7))
    items = public + "ST"[: chance.randint(1, 2)]
    records = [frozenset(item for item in items if chance.random() < share) for _ in range(chance.randint(3, 9))]
    rules = []
    for _ in range(chance.randint(1, 5)):
        known = chance.sample(public, chance.randint(1, min(3, len(public))))
        own = chance.choice(("", "", "", " [k=3]", " [c=1/5]", " [k=2, c=2/3]"))
        rules.append(f"{','.join(known)} => {chance.choice(('S', 'S', 'T', 'S,T'))}{own}")
    return [*records, frozenset(public), frozenset(items)], sv.RuleAnonymity(
        chance.choice((2, 2, 3)),
        chance.choice(("1/2", "1/3", "0.4")),
        rules,  # type: ignore[arg-type]
    )
