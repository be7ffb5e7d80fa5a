"""Whether a release was made of the original it claims: the checks that only its owner can run.

A release read back from its files has its records in canonical order, so records are compared as multisets. What is
checked for which kind of release is listed in ``docs/verification.md``. Messages name items, never records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import compress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.core import Transactions
from setveil.core.vocabulary import ascending
from setveil.errors import name_some, times
from setveil.models import PrivacyModel
from setveil.releases import CountTable, Grouping, LocalRecoding, Recoding, Release, Replacement
from setveil.verify.book import cover_pairs, recoded_items, recoding_targets
from setveil.verify.column_fidelity import check_columns
from setveil.verify.count_fidelity import check_counts
from setveil.verify.degree import GroupCounts
from setveil.verify.published import Published, number_both, read_published, some_rows, sorted_rows
from setveil.verify.verdict import naming


class Asked(NamedTuple):
    """What a release says of itself, and what is to be counted besides."""

    in_input_order: bool
    suppression: bool
    utility_groups: Sequence[Sequence[str]]
    model: PrivacyModel | None = None


class Records(NamedTuple):
    """CSR over any numbers, each row ascending."""

    indptr: NDArray[np.int64]
    items: NDArray[np.int32]

    @property
    def n_records(self) -> int:
        return len(self.indptr) - 1

    @property
    def owners(self) -> NDArray[np.int64]:
        return np.repeat(np.arange(self.n_records), np.diff(self.indptr))

    def parts(self) -> Iterator[Records]:
        """The same records, some at a time."""
        for first, last in some_rows(self.indptr):
            start, end = self.indptr[first], self.indptr[last]
            yield Records(self.indptr[first : last + 1] - start, self.items[start:end])


def check_original(
    release: Release,
    original: Transactions,
    model: PrivacyModel | None = None,
    *,
    in_input_order: bool = False,
    suppression: bool = False,
) -> list[str]:
    """Problems found by holding a release against the original, one line each.

    ``model``: the counts of its utility groups are compared, too. ``in_input_order``: the
    release's records are in the order of the original, so that each can be compared with its own. ``suppression``: the
    release says that single entries were suppressed (local recodings), or sensitive items in excess (groupings).
    """
    published, source = read_published(release), read_published(original)
    kept = np.ones(source.n_records, dtype=bool)
    if published.grouping is not None:
        source, kept = _with_public_items(source, set(published.grouping.sensitive))
    problems = []
    if published.n_records != source.n_records:
        problems.append(
            f"the release has {times(published.n_records, 'record')}, the original {times(source.n_records, 'record')}."
        )
        in_input_order = False
    if published.n_records == source.n_records:
        problems += check_columns(
            release.published.columns, original.columns, published.n_records, kept, in_input_order
        )
    groups = () if model is None else model.utility_groups
    return problems + CHECKS[release.kind](
        release, published, source, Asked(in_input_order, suppression, groups, model)
    )


# -- recodings ----------------------------------------------------------------------------------------------------


def _check_recoding(release: Recoding, published: Published, source: Published, asked: Asked) -> list[str]:
    """The codebook, applied to the original, gives exactly the published records."""
    assert published.number_of is not None
    becomes, problems = recoded_items(release, source.labels, _occurring(source))
    expected = _recoded(source, np.append(published.number_of, -1)[becomes], len(published.labels))
    problems += _compare(
        expected,
        Records(published.indptr, published.items),
        published.labels,
        "published differently from the codebook",
        asked.in_input_order,
    )
    return problems + _check_utility(release, published, source, asked.utility_groups)


def _check_utility(
    release: Recoding, published: Published, source: Published, groups: Sequence[Sequence[str]]
) -> list[str]:
    """As many published records as original ones hold something of each utility group none of whose items is
    suppressed.
    """
    target, suppressed = recoding_targets(release)
    assert published.number_of is not None
    ours, theirs = Records(published.indptr, published.items), Records(source.indptr, source.items)
    problems = []
    for number, group in enumerate(groups, start=1):
        place = release.domain.numbers(group)
        place = place[place >= 0]
        if suppressed[place].any():
            continue
        goes = target[place]
        n_published = _n_holding(ours, published.number_of[goes[goes >= 0]], len(published.labels))
        n_original = _n_holding(theirs, np.array(source.numbers(group), dtype=np.int64), len(source.labels))
        if n_published != n_original:
            problems.append(
                f"utility group {number} ({name_some(group)}): {n_published:,} published records hold something of it, "
                f"{n_original:,} original ones."
            )
    return problems


# -- local recodings ----------------------------------------------------------------------------------------------


def _check_local_recoding(release: LocalRecoding, published: Published, source: Published, asked: Asked) -> list[str]:
    """Every published item covers an item of its record, and a published item covers every item.

    Without the order of the original only what every faithful release fulfils is checked: how many records can hold
    each published item and each item, and which parts of the domain that never share a published item the records
    touch.
    """
    label, item = cover_pairs(release)
    assert published.number_of is not None
    label = published.number_of[label].astype(np.int64)
    place = release.cover.vocabulary.numbers(source.labels).astype(np.int64)
    occurs = _occurring(source)
    problems = naming("items of the original that the codebook lacks:", compress(source.labels, occurs & (place < 0)))
    number = np.full(len(release.cover.vocabulary), -1, dtype=np.int64)
    number[place[place >= 0]] = np.flatnonzero(place >= 0)
    pairs = np.unique(np.column_stack((number[item], label))[number[item] >= 0], axis=0)  # [(item, published item)]
    nodes = release.node_of_occurrence
    suppression = asked.suppression or (nodes is not None and bool((np.asarray(nodes) < 0).any()))
    if not suppression:
        has_cover = np.zeros(len(source.labels), dtype=bool)
        has_cover[pairs[:, 0]] = True
        lost = occurs & (place >= 0) & ~has_cover
        problems += naming(
            "items of the original that are neither published nor suppressed:", compress(source.labels, lost)
        )
    if asked.in_input_order:
        return problems + _check_cover_by_record(published, source, pairs, suppression)
    return problems + _check_cover_by_counts(published, source, pairs, suppression)


def _check_cover_by_record(
    published: Published, source: Published, pairs: NDArray[np.int64], suppression: bool
) -> list[str]:
    ours, theirs = Records(published.indptr, published.items), Records(source.indptr, source.items)
    occurrence, partner = _joined(theirs.items, pairs[:, 0], len(source.labels))
    label = pairs[partner, 1]
    width = max(len(published.labels), 1)
    possible = theirs.owners[occurrence] * width + label  # (record, published item that could stand there)
    actual = ours.owners * width + ours.items
    unfounded = np.bincount(ours.items[~_are_among(actual, possible)], minlength=len(published.labels)) > 0
    problems = naming(
        "labels published for records without any item that they cover:", compress(published.labels, unfounded)
    )
    if not suppression:
        has_cover = np.zeros(len(source.labels), dtype=bool)
        has_cover[pairs[:, 0]] = True
        shown = ~has_cover[theirs.items]  # an item nothing stands for is suppressed everywhere
        shown[occurrence[_are_among(possible, actual)]] = True
        missing = np.bincount(theirs.items[~shown], minlength=len(source.labels)) > 0
        problems += naming("items that are not published for records that have them:", compress(source.labels, missing))
    return problems


def _are_among(keys: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which of the keys are among the others."""
    ordered = np.append(np.sort(others), np.iinfo(np.int64).max)
    found: NDArray[np.bool_] = ordered[np.searchsorted(ordered, keys)] == keys
    return found


def _check_cover_by_counts(
    published: Published, source: Published, pairs: NDArray[np.int64], suppression: bool
) -> list[str]:
    ours, theirs = Records(published.indptr, published.items), Records(source.indptr, source.items)
    n_items, n_labels = len(source.labels), len(published.labels)
    # Published item v needs as many original records with something it can cover as it has records.
    could = np.zeros(n_labels, dtype=np.int64)
    for part in theirs.parts():
        occurrence, partner = _joined(part.items, pairs[:, 0], n_items)
        pairs_of_records = np.sort(part.owners[occurrence] * max(n_labels, 1) + pairs[partner, 1])
        is_new = np.append(True, pairs_of_records[1:] != pairs_of_records[:-1])[: len(pairs_of_records)]
        could += np.bincount(pairs_of_records[is_new] % max(n_labels, 1), minlength=n_labels)
    too_often = np.bincount(ours.items, minlength=n_labels) > could
    problems = naming(
        "labels published in more records than the original allows:", compress(published.labels, too_often)
    )
    # Parts: items and published items joined by standing for each other, however indirectly.
    part_of_item, part_of_label, n_parts = _parts(pairs, n_items, n_labels)
    expected = _recoded(source, part_of_item, n_parts)
    actual = _recoded(published, part_of_label, n_parts)
    if not suppression:
        # Item i needs as many published records that can cover it as it has records.
        counts = np.bincount(theirs.items, minlength=n_items)
        for group, labels in _items_by_labels(pairs, n_items):
            most = _n_holding(ours, np.array(labels), n_labels)
            lost = np.zeros(n_items, dtype=bool)
            lost[group] = counts[group] > most
            problems += naming(
                "items that are not published for every record that has them:", compress(source.labels, lost)
            )
        names = [f"part {number}" for number in range(n_parts)]
        problems += _compare(
            expected, actual, tuple(names), "parts of the domain that differ from the original", False, name=False
        )
    return problems


def _items_by_labels(pairs: NDArray[np.int64], n_items: int) -> list[tuple[list[int], tuple[int, ...]]]:
    """Items that the same published items can cover, together."""
    labels_of: dict[int, list[int]] = {}
    for item, label in pairs.tolist():
        labels_of.setdefault(item, []).append(label)
    groups: dict[tuple[int, ...], list[int]] = {}
    for item, labels in labels_of.items():
        groups.setdefault(tuple(labels), []).append(item)
    return [(items, labels) for labels, items in groups.items()]


def _parts(pairs: NDArray[np.int64], n_items: int, n_labels: int) -> tuple[NDArray[np.int32], NDArray[np.int32], int]:
    """Connected components of "can cover"; -1 for items nothing stands for."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    size = n_items + n_labels
    graph = coo_array((np.ones(len(pairs), dtype=np.int8), (pairs[:, 0], n_items + pairs[:, 1])), shape=(size, size))
    n_parts, part = connected_components(graph, directed=False)
    covered = np.zeros(n_items, dtype=bool)
    covered[pairs[:, 0]] = True
    part = part.astype(np.int32)
    return np.where(covered, part[:n_items], -1).astype(np.int32), part[n_items:], int(n_parts)


# -- replacements and groupings -----------------------------------------------------------------------------------


def _check_replacement(release: Replacement, published: Published, source: Published, asked: Asked) -> list[str]:
    """Sensitive items are untouched, and nothing is published that the original does not know."""
    known, shown = set(source.labels), compress(published.labels, _occurring(published))
    problems = naming("published items that are not in the original:", (one for one in shown if one not in known))
    sensitive = tuple(ascending(set(release.sensitive)))
    return problems + _compare(
        _only(source, sensitive),
        _only(published, sensitive),
        sensitive,
        "sensitive items that differ from the original",
        asked.in_input_order,
    )


def _check_grouping(release: Grouping, published: Published, source: Published, asked: Asked) -> list[str]:
    """Public parts are untouched; sensitive counts add up, in all and as far as it can be checked in each group."""
    sensitive = tuple(release.sensitive)
    hidden = set(sensitive)
    public = tuple(ascending((set(source.labels) | set(published.labels)) - hidden))
    shown = compress(published.labels, _occurring(published))
    problems = naming("sensitive items that records show:", (one for one in shown if one in hidden))
    ours, theirs = _only(published, public), _only(source, public)
    problems += _compare(theirs, ours, public, "public items that differ from the original", asked.in_input_order)
    secrets = _only(source, sensitive)
    total = np.zeros(len(sensitive), dtype=np.int64)
    known = GroupCounts.of(release)
    np.add.at(total, known.item, known.count)
    expected = np.bincount(secrets.items, minlength=len(sensitive))
    wrong = total > expected if asked.suppression else total != expected
    problems += [
        f'sensitive item "{sensitive[item]}" is counted {times(int(total[item]), "time")}; '
        f"the original holds it in {times(int(expected[item]), 'record')}."
        for item in np.flatnonzero(wrong).tolist()[:20]
    ]
    if not problems:
        problems += _check_group_counts(known, sensitive, ours, theirs, secrets, asked)
    return problems


def _check_group_counts(
    known: GroupCounts,
    sensitive: tuple[str, ...],
    ours: Records,
    theirs: Records,
    secrets: Records,
    asked: Asked,
) -> list[str]:
    """Each count lies between what the group's public parts force and what they allow.

    With the order known, a record is its own public part and both bounds meet. Otherwise ``a`` records of the group
    share a public part that ``n`` records of the original have, ``b`` of them with the sensitive item: between
    max(0, a − (n − b)) and min(a, b) of the group's records hold it.
    """
    n_sensitive, n_groups = max(len(sensitive), 1), max(len(known.names), 1)
    if asked.in_input_order:
        theirs_part = ours_part = np.arange(ours.n_records, dtype=np.int64)
    else:
        part = number_both(theirs, ours)
        theirs_part, ours_part = part[: theirs.n_records], part[theirs.n_records :]
    n_of_part = np.bincount(theirs_part)
    secret, b = np.unique(theirs_part[secrets.owners] * n_sensitive + secrets.items, return_counts=True)
    member, a = np.unique(ours_part * n_groups + known.group_of, return_counts=True)
    which, other = _joined(secret // n_sensitive, member // n_groups, len(n_of_part))  # secrets with groups, by part
    a, b, n = a[other], b[which], n_of_part[secret[which] // n_sensitive]
    bounded = (member[other] % n_groups) * n_sensitive + secret[which] % n_sensitive
    keys, place = np.unique(np.concatenate((bounded, known.group * n_sensitive + known.item)), return_inverse=True)
    least, most, count = (np.zeros(len(keys), dtype=np.int64) for _ in range(3))
    np.add.at(most, place[: len(bounded)], np.minimum(a, b))
    np.add.at(least, place[: len(bounded)], np.maximum(0, a - (n - b)))
    np.add.at(count, place[len(bounded) :], known.count)
    wrong = (count > most) | (False if asked.suppression else count < least)
    return [
        f'group {known.names[keys[bad] // n_sensitive]}: "{sensitive[int(keys[bad] % n_sensitive)]}" is counted '
        f"{times(int(count[bad]), 'time')}; the original allows {least[bad]:,} to {most[bad]:,}."
        for bad in np.flatnonzero(wrong).tolist()[:20]
    ]


# -- comparing ----------------------------------------------------------------------------------------------------


def _check_count_table(release: CountTable, published: Published, source: Published, asked: Asked) -> list[str]:
    """Counts are true; records belong to nobody, so that nothing else is compared."""
    return check_counts(release, source, asked.model)


CHECKS: dict[str, Callable[[Any, Published, Published, Asked], list[str]]] = {
    "recoding": _check_recoding,
    "local-recoding": _check_local_recoding,
    "replacement": _check_replacement,
    "grouping": _check_grouping,
    "count-table": _check_count_table,
}


def _recoded(records: Published, becomes: NDArray[np.integer], n_labels: int) -> Records:
    """Every item replaced by what it becomes, -1 dropped, what falls together kept once."""
    becomes = np.asarray(becomes, dtype=np.int32)
    indptr, found = [np.zeros(1, dtype=np.int64)], []
    for part in Records(records.indptr, records.items).parts():
        items = becomes[part.items]
        kept = items >= 0
        indptr.append(indptr[-1][-1] + np.append(0, np.cumsum(kept))[part.indptr[1:]])
        found.append(items[kept])
    joined = np.concatenate((np.empty(0, dtype=np.int32), *found))
    return Records(*sorted_rows(np.concatenate(indptr), joined, n_labels))


def _with_public_items(records: Published, sensitive: set[str]) -> tuple[Published, NDArray[np.bool_]]:
    """The records that have an item which is not sensitive: those that a grouping publishes; and which these are."""
    is_public = np.array([label not in sensitive for label in records.labels], dtype=bool)[records.items]
    owner = np.repeat(np.arange(records.n_records), np.diff(records.indptr))
    is_kept = np.bincount(owner[is_public], minlength=records.n_records) > 0
    indptr = np.concatenate(([0], np.cumsum(np.diff(records.indptr)[is_kept]))).astype(np.int64)
    return Published(records.labels, indptr, records.items[is_kept[owner]]), is_kept


def _only(records: Published, labels: tuple[str, ...]) -> Records:
    """Records over some labels only, numbered as these are."""
    number = {label: place for place, label in enumerate(labels)}
    becomes = np.array([number.get(label, -1) for label in records.labels], dtype=np.int32)
    return _recoded(records, becomes, len(labels))


def _compare(
    expected: Records, actual: Records, labels: tuple[str, ...], fault: str, in_order: bool, name: bool = True
) -> list[str]:
    """One line if the records differ, as a multiset or one by one; it names the items whose supports differ."""
    number = number_both(expected, actual)
    theirs, ours = number[: expected.n_records], number[expected.n_records :]
    if in_order:
        n_wrong = int((theirs != ours).sum())
    else:
        n_rows = int(number.max(initial=-1)) + 1
        surplus = np.bincount(ours, minlength=n_rows) - np.bincount(theirs, minlength=n_rows)
        n_wrong = int(max(surplus[surplus > 0].sum(), -surplus[surplus < 0].sum()))
    if n_wrong == 0:
        return []
    wanted = np.bincount(expected.items, minlength=len(labels))
    shown = np.bincount(actual.items, minlength=len(labels))
    differing = [
        f'"{labels[item]}" in {shown[item]:,} instead of {wanted[item]:,}'
        for item in np.flatnonzero(wanted != shown).tolist()
    ]
    detail = "; " + ", ".join(differing[:5]) if name and differing else ""
    more = f" and {len(differing) - 5:,} more items" if name and len(differing) > 5 else ""
    return [f"{fault}: {times(n_wrong, 'record')}{detail}{more}."]


def _n_holding(records: Records, wanted: NDArray[np.integer], n_labels: int) -> int:
    """How many records hold at least one of the wanted items."""
    is_wanted = np.zeros(n_labels, dtype=bool)
    is_wanted[wanted] = True
    n_found = 0
    for part in records.parts():
        holders = part.owners[is_wanted[part.items]]  # ascending
        n_found += int((holders[1:] != holders[:-1]).sum()) + (len(holders) > 0)
    return n_found


def _joined(
    left: NDArray[np.integer], keys: NDArray[np.integer], n_keys: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All positions ``(i, j)`` with ``left[i] == keys[j]``; ``keys`` are ascending and below ``n_keys``."""
    first = np.searchsorted(keys, np.arange(n_keys + 1))
    n_partners = np.diff(first)[left]
    position = np.repeat(np.arange(len(left)), n_partners)
    offset = np.arange(len(position)) - np.repeat(np.cumsum(n_partners) - n_partners, n_partners)
    return position, first[left][position] + offset


def _occurring(records: Published) -> NDArray[np.bool_]:
    """Which labels are in a record."""
    occurs: NDArray[np.bool_] = np.bincount(records.items, minlength=len(records.labels)) > 0
    return occurs
