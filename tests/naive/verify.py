"""Every privacy model checked by looking: records are sets of labels, itemsets are all there are."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import combinations

from setveil.core.vocabulary import ascending
from setveil.models import Coherence, ConstraintAnonymity, KAnonymity, KmAnonymity, PrivacyDegree
from setveil.releases import Grouping, LocalRecoding, Recoding, Release

Itemset = tuple[str, ...]
Records = list[frozenset[str]]


def support(records: Records, itemset: Iterable[str]) -> int:
    wanted = frozenset(itemset)
    return sum(1 for record in records if wanted <= record)


def in_order(itemsets: Iterable[Iterable[str]], labels: Iterable[str]) -> list[Itemset]:
    """By size, then ascending."""
    rank = {label: place for place, label in enumerate(ascending(set(labels)))}
    rows = [tuple(sorted(itemset, key=rank.__getitem__)) for itemset in itemsets]
    return sorted(rows, key=lambda row: (len(row), [rank[label] for label in row]))


def occurring(records: Records, largest: int | str) -> list[Itemset]:
    """All itemsets of 1 to ``largest`` items that occur, in order."""
    sets = set()
    for record in set(records):
        most = len(record) if largest == "all" else min(int(largest), len(record))
        for size in range(1, most + 1):
            sets |= {frozenset(itemset) for itemset in combinations(record, size)}
    return in_order(sets, {label for record in records for label in record})


def minimal(violating: list[Itemset]) -> list[Itemset]:
    return [one for one in violating if not any(set(other) < set(one) for other in violating)]


def hidden_labels(release: Release | None, sensitive: Iterable[str]) -> set[str]:
    """Published labels that stand for sensitive items and nothing else."""
    wanted = set(sensitive)
    if not isinstance(release, Recoding | LocalRecoding):
        return wanted
    return {label for label, items in release.codebook().items() if label and items and set(items) <= wanted}


# Each function answers (violations in order, what is achieved); a violation is (itemset, support).


def misnamed(release: Release | None, records: Records, sensitive: Iterable[str]) -> list[tuple[Itemset, int]]:
    """Published labels that stand for a sensitive item and are not its own name, or not for it alone."""
    if not isinstance(release, Recoding | LocalRecoding):
        return []
    book = {label: set(items) for label, items in release.codebook().items() if support(records, [label]) and label}
    labels = {label for label, items in book.items() if items & set(sensitive) and items != {label}}
    return [(itemset, support(records, itemset)) for itemset in in_order([[label] for label in labels], book)]


def km(records: Records, model: KmAnonymity) -> tuple[list[tuple[Itemset, int]], dict[str, int]]:
    supports = {itemset: support(records, itemset) for itemset in occurring(records, model.m)}
    rare = minimal([itemset for itemset, count in supports.items() if count < model.k])
    smallest = {"smallest_support": min(supports.values())} if supports else {}
    return [(itemset, supports[itemset]) for itemset in rare], smallest


def k_anonymity(
    records: Records, model: KAnonymity, release: Release | None = None
) -> tuple[list[tuple[Itemset, int]], dict[str, int]]:
    hidden = hidden_labels(release, model.sensitive)
    classes: dict[frozenset[str], list[frozenset[str]]] = defaultdict(list)
    for record in records:
        classes[record - hidden].append(record & hidden)
    diversity = {public: len(frozenset().union(*secrets)) for public, secrets in classes.items()}
    bad = [p for p, s in classes.items() if len(s) < model.k or (model.l > 1 and diversity[p] < model.l)]
    achieved = {}
    if classes:
        achieved["smallest_class"] = min(map(len, classes.values()))
        if model.l > 1:
            achieved["fewest_sensitive_items"] = min(diversity.values())
    labels = {label for record in records for label in record}
    return [(row, len(classes[frozenset(row)])) for row in in_order(bad, labels)], achieved


def coherence(
    records: Records, model: Coherence, release: Release | None = None
) -> tuple[list[tuple[Itemset, int]], dict[str, int | float]]:
    hidden = hidden_labels(release, model.sensitive)
    public = [record - hidden for record in records]
    bad, supports, shares = [], {}, [Fraction(0)]
    for itemset in occurring(public, model.p):
        fitting = [record for record in records if set(itemset) <= record]
        supports[itemset] = len(fitting)
        most = max(Counter(item for record in fitting for item in record & hidden).values(), default=0)
        shares.append(Fraction(100 * most, len(fitting)))
        if len(fitting) < model.k or shares[-1] > Fraction(str(model.h)):
            bad.append(itemset)
    achieved = {}
    if supports:
        achieved = {"smallest_support": min(supports.values()), "largest_percentage": float(max(shares))}
    return [(itemset, supports[itemset]) for itemset in minimal(bad)], achieved


def images(release: Release | None, records: Records) -> tuple[Callable[[Iterable[str]], int], list[str], int]:
    """How often the image of a constraint occurs; the suppressed items; the number of items."""
    if isinstance(release, Recoding | LocalRecoding):
        book = release.codebook()
        gone = set(book.get("", []))
        domain = release.domain if isinstance(release, Recoding) else release.cover.vocabulary
        behind = {label: set(items) for label, items in book.items() if label}

        def count(constraint: Iterable[str]) -> int:
            rest = set(constraint) - gone
            if not rest:
                return 0
            fits = [{label for label, items in behind.items() if item in items} for item in rest]
            return sum(1 for record in records if all(labels & record for labels in fits))

        return count, sorted(gone), len(domain)
    labels = {label for record in records for label in record}
    return lambda constraint: support(records, constraint) if set(constraint) else 0, [], len(labels)


def constraints(
    release: Release | None, records: Records, model: ConstraintAnonymity
) -> tuple[list[tuple[Itemset, int]], dict[str, int | float], bool, bool]:
    """Also: whether utility groups are mixed, and whether too much is suppressed."""
    count, gone, n_items = images(release, records)
    supports = {tuple(constraint): count(constraint) for constraint in model.constraints}
    bad = [frozenset(constraint) for constraint, number in supports.items() if 0 < number < model.k]
    labels = {item for constraint in model.constraints for item in constraint}
    rows = [row for row in in_order(set(bad), labels) if not any(other < set(row) for other in bad)]
    achieved: dict[str, int | float] = {"suppressed_percentage": 100 * len(gone) / n_items if n_items else 0.0}
    if any(supports.values()):
        achieved["smallest_support"] = min(number for number in supports.values() if number)
    mixed = False
    if model.utility is not None and release is not None:
        for label, items in release.codebook().items():
            groups = {next((n for n, g in enumerate(model.utility) if item in g), item) for item in items}
            mixed |= bool(label) and len(groups) > 1
    too_many = Fraction(100 * len(gone)) > Fraction(str(model.max_suppressed)) * n_items
    return [(row, count(row)) for row in rows], achieved, mixed, too_many


def degree(release: Release | None, records: Records, model: PrivacyDegree) -> tuple[bool, dict[str, int]]:
    hidden = hidden_labels(release, model.sensitive)
    if isinstance(release, Grouping):  # whatever is counted is sensitive
        hidden |= {release.sensitive[int(item)] for item in release.count_item}
    if any(record & hidden for record in records):
        return False, {"privacy_degree": 1}
    if not isinstance(release, Grouping):
        return True, {}
    sizes = Counter(release.group_of.tolist())
    quotients = []
    for group, number in zip(release.count_group, release.count, strict=True):
        if number:
            quotients.append(Fraction(sizes[int(group)], int(number)))
    if not quotients:
        return True, {}
    return min(quotients) >= model.p, {"privacy_degree": int(min(quotients))}
