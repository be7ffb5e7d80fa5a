"""k^m-anonymity, k-anonymity and the privacy degree counted by Spark SQL, for releases that fit no machine.

This shares nothing with the engine that made a release: neither its numbers of items, nor its blocks, nor a line of
code. The records are taken from the published files as lists of labels, and every itemset is counted by ``GROUP BY``.
Labels are counted by a hash of 64 bits, which takes a third of the time, after it was seen that no two of them have
the same; else as they are. Text in, counts out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import compress
from typing import Any

from setveil.core import Dataset
from setveil.core.progress import Progress
from setveil.core.vocabulary import ascending
from setveil.errors import UncheckedError, times
from setveil.models import KAnonymity, KmAnonymity, PrivacyModel
from setveil.releases import Recoding, Release, Replacement
from setveil.verify.book import recoded_items
from setveil.verify.km import too_few
from setveil.verify.verdict import Verdict, in_braces, naming

Ask = Callable[[str], list[Any]]  # a query → its rows
Images = Sequence[tuple[str, str]]  # an item, the published item that it becomes
NAMED = 5  # items that a message names


def judge_table(
    ask: Ask, table: str, model: PrivacyModel, progress: Progress
) -> tuple[Verdict, dict[str, int | float]]:
    """The verdict on a table with a column ``items`` of lists and, where the claim holds, the smallest support."""
    if isinstance(model, KAnonymity) and not model.sensitive and model.l == 1:
        return _judge_classes(ask, table, model, progress)
    if not isinstance(model, KmAnonymity) or model.m == "all":
        raise UncheckedError(
            "Spark SQL counts k^m-anonymity for a number m, and k-anonymity without sensitive items; verify this with "
            "the local engine."
        )
    if model.k_known is not None:
        ((n_records,),) = ask(f"SELECT count(*) FROM {table}")
        few = too_few(int(n_records), model)
        if few is not None:
            return few, {}
    code = _code(ask, table)
    smallest: list[int] = []
    for size in range(1, model.m + 1):
        progress(f"counting itemsets of {size}", (size - 1) / model.m)
        ((least,),) = ask(f"SELECT min(n) FROM ({_counted(table, size, code)})")
        if least is None:  # no record has as many items
            break
        smallest.append(int(least))
        if smallest[-1] < model.k_for(size):
            return _broken(ask, table, size, model.k_for(size)), {}
    return Verdict(True), {"smallest_support": min(smallest)} if smallest else {}


def _judge_classes(
    ask: Ask, table: str, model: KAnonymity, progress: Progress
) -> tuple[Verdict, dict[str, int | float]]:
    """Whether every record occurs at least k times; the first that does not by number of items, then ascending."""
    progress("counting classes", 0.0)
    classes = f"SELECT sort_array(array_distinct(items)) AS items, count(*) AS n FROM {table} GROUP BY 1"
    ((least,),) = ask(f"SELECT min(n) FROM ({classes})")
    if least is None:
        return Verdict(True), {}
    if least >= model.k:
        return Verdict(True), {"smallest_class": int(least)}
    members = f"sort_array(transform(items, item -> {_shape(ask, table).format('item')}))"
    rare = f"SELECT {members} AS itemset, n FROM ({classes}) WHERE n < {model.k}"
    ((itemset, support),) = ask(f"SELECT * FROM ({rare}) ORDER BY size(itemset), itemset LIMIT 1")
    witness = tuple(str(member[-1]) for member in itemset)
    who = f"{in_braces(witness)} is the non-sensitive part of {times(int(support), 'record')}"
    return Verdict(False, witness, int(support), f"{who}, fewer than k={model.k}."), {}


def judge_groups(
    ask: Ask, table: str, counts: str, model: Any, progress: Progress
) -> tuple[Verdict, dict[str, int | float]]:
    """The verdict on groups: a table with the columns ``group`` and ``items``, another with ``group, item, count``.

    ``model``: a model about groups. Where it is met, the largest whole degree is given, too.
    """
    progress("looking for sensitive items in records", 0.0)
    each = f"SELECT `group`, explode(array_distinct(items)) AS item FROM {table}"
    shown = {
        item: (n, first) for item, n, first in ask(f"SELECT item, count(*), min(`group`) FROM ({each}) GROUP BY 1")
    }
    sensitive = {*model.sensitive, *(item for (item,) in ask(f"SELECT DISTINCT item FROM {counts}"))}
    for item in ascending(shown):
        if item in sensitive:
            support, group = shown[item]
            reason = f'sensitive item "{item}" is published unchanged in {times(support, "record")}.'
            return Verdict(False, (item,), support, reason, group - 1), {}
    progress("counting groups", 0.5)
    sizes = f"SELECT `group`, count(*) AS size FROM {table} GROUP BY 1"
    capped = f"least(count, {2**31})"  # as on one machine: sums cannot overflow
    summed = f"SELECT `group`, item, sum({capped}) AS n FROM {counts} GROUP BY 1, 2"
    known = f"SELECT `group`, item, n, coalesce(size, 0) AS size FROM ({summed}) LEFT JOIN ({sizes}) USING (`group`)"
    over = f"SELECT * FROM ({known}) WHERE n > size div {min(model.p, 2**62)}"
    first = f"SELECT min(`group`) FROM ({over})"
    found = {
        item: (group, n, size) for group, item, n, size in ask(f"SELECT * FROM ({over}) WHERE `group` = ({first})")
    }
    for item in ascending(sensitive):
        if item in found:
            group, support, size = found[item]
            reason = (
                f'group {group - 1}: {support:,} of {times(size, "record")} hold "{item}", more than one in {model.p}.'
            )
            return Verdict(False, (item,), support, reason, group - 1), {}
    ((least,),) = ask(f"SELECT min(size div n) FROM ({known})")
    return Verdict(True), {} if least is None else {"privacy_degree": int(least)}


def _code(ask: Ask, table: str) -> str:
    """What is counted in place of an item: something that differs where items do; a format with one place."""
    labels = f"SELECT DISTINCT item FROM {table} LATERAL VIEW explode(items) each AS item"
    ((n_labels, n_codes),) = ask(f"SELECT count(*), count(DISTINCT xxhash64(item)) FROM ({labels})")
    return "xxhash64({0})" if n_codes == n_labels else "{0}"


def _counted(table: str, size: int, code: str = "{0}") -> str:
    """A query for all itemsets of one size that occur, ``item1 … n``."""
    items = [f"item{place}" for place in range(1, size + 1)]
    views = " ".join(f"LATERAL VIEW explode(items) row_{item} AS {item}" for item in items)
    ascending = " AND ".join(f"{low} < {high}" for low, high in zip(items[:-1], items[1:], strict=True)) or "true"
    codes = "items" if code == "{0}" else f"transform(items, item -> {code.format('item')})"
    rows = f"(SELECT array_distinct({codes}) AS items FROM {table})"
    columns = ", ".join(items)
    return f"SELECT {columns}, count(*) AS n FROM {rows} {views} WHERE {ascending} GROUP BY {columns}"


def _broken(ask: Ask, table: str, size: int, k: int) -> Verdict:
    """The first itemset that is too rare, in ascending order of labels: numbers by value, else by code point."""
    shape = _shape(ask, table)
    members = ", ".join(shape.format(f"item{place}") for place in range(1, size + 1))
    rare = f"SELECT sort_array(array({members})) AS itemset, n FROM ({_counted(table, size)}) WHERE n < {k}"
    ((itemset, support),) = ask(f"SELECT * FROM ({rare}) ORDER BY itemset LIMIT 1")
    witness = tuple(str(member[-1]) for member in itemset)
    reason = f"{in_braces(witness)} occurs in {times(int(support), 'record')}, fewer than k={k}."
    return Verdict(False, witness, int(support), reason)


def _shape(ask: Ask, table: str) -> str:
    """An item as something that sorts in ascending order; a format with one place."""
    each = f"SELECT explode(items) AS item FROM {table}"
    ((strange,),) = ask(f"SELECT count(*) FROM ({each}) WHERE NOT item RLIKE '^[0-9]+$'")
    by_value = "" if strange else "'digits', length(ltrim('0', {0})), 'value', ltrim('0', {0}), "
    return f"named_struct({by_value}'label', {{0}})"


# -- the original -----------------------------------------------------------------------------------------------------


def check_labels(release: Release, original: Dataset) -> tuple[Images, list[str]]:
    """What every item of the original becomes, and problems that labels and numbers of records show already.

    Records are not looked at; of a replacement nothing else can be verified, for any record may become any other.
    """
    problems = []
    if release.published.n_records != original.n_records:
        problems.append(
            f"the release has {times(release.published.n_records, 'record')}, "
            f"the original {times(original.n_records, 'record')}."
        )
    check = LABEL_CHECKS.get(release.kind)
    if check is None:
        raise UncheckedError(f"only the local engine can compare a {release.kind} with its original.")
    images, further = check(release, original)
    return images, problems + further


def _check_replaced(release: Replacement, original: Dataset) -> tuple[Images, list[str]]:
    known = set(compress(original.vocabulary.labels, original.supports > 0))
    published = compress(release.published.vocabulary, release.published.supports > 0)
    unknown = (label for label in published if label not in known)
    return (), naming("published items that are not in the original:", unknown)


def _check_codebook(release: Recoding, original: Dataset) -> tuple[Images, list[str]]:
    labels, published = original.vocabulary.labels, release.published.vocabulary
    becomes, problems = recoded_items(release, labels, original.supports > 0)
    images = [(label, published[goes]) for label, goes in zip(labels, becomes.tolist(), strict=True) if goes >= 0]
    return images, problems


LABEL_CHECKS: dict[str, Callable[[Any, Dataset], tuple[Images, list[str]]]] = {
    "recoding": _check_codebook,
    "replacement": _check_replaced,
}


def check_recoded(ask: Ask, table: str, original: str, images: str) -> list[str]:
    """Whether the codebook, applied to the original, gives the published records, each as often as it is published.

    ``original``: a table with a column ``items`` of lists. ``images``: a table ``item, becomes``.
    """
    numbered = f"SELECT monotonically_increasing_id() AS id, items FROM {original}"
    loose = f"SELECT id, explode_outer(items) AS item FROM ({numbered})"
    recoded = f"SELECT id, becomes FROM ({loose}) LEFT JOIN {images} USING (item)"
    theirs = f"SELECT sort_array(collect_set(becomes)) AS items, -1 AS n FROM ({recoded}) GROUP BY id"
    ours = f"SELECT sort_array(array_distinct(items)) AS items, 1 AS n FROM {table}"
    surplus = f"SELECT items, sum(n) AS n FROM ({ours} UNION ALL {theirs}) GROUP BY items HAVING sum(n) <> 0"
    ((more, fewer),) = ask(f"SELECT sum(greatest(n, 0)), sum(greatest(-n, 0)) FROM ({surplus})")
    if more is None:
        return []
    each = f"SELECT item, n FROM ({ours} UNION ALL {theirs}) LATERAL VIEW explode(items) one AS item"
    counted = f"SELECT item, sum(greatest(n, 0)) AS shown, sum(greatest(-n, 0)) AS wanted FROM ({each}) GROUP BY item"
    found = {item: (shown, wanted) for item, shown, wanted in ask(f"SELECT * FROM ({counted}) WHERE shown <> wanted")}
    named = [f'"{item}" in {found[item][0]:,} instead of {found[item][1]:,}' for item in ascending(set(found))]
    detail = "; " + ", ".join(named[:NAMED]) if named else ""
    rest = f" and {len(named) - NAMED:,} more items" if len(named) > NAMED else ""
    return [f"published differently from the codebook: {times(int(max(more, fewer)), 'record')}{detail}{rest}."]
