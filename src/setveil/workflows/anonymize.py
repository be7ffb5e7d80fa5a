"""Make a release: find the algorithm, give it what it needs, keep the record of the run."""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from setveil.algorithms import PORTFOLIO, Context, default_for, find_for, make_algorithm
from setveil.core import Grouping, Hierarchy, Release, RunRecord, Transactions
from setveil.core.progress import Progress, no_progress
from setveil.core.vocabulary import as_read_aloud
from setveil.errors import InputError, SetveilWarning, name_some, one_line
from setveil.models import PrivacyModel, as_model
from setveil.workflows.cluster import algorithm_for, engine_for
from setveil.workflows.hierarchy import resolve_hierarchy
from setveil.workflows.reading import read_twice


def never() -> bool:
    """Nobody stops the run."""
    return False


def anonymize(
    data: Any,
    model: PrivacyModel | str,
    algorithm: str | None = None,
    hierarchy: Hierarchy | str | None = None,
    options: Mapping[str, Any] | None = None,
    seed: int = 0,
    *,
    unknown_items: str = "error",
    read_options: Mapping[str, Any] | None = None,
    progress: Progress = no_progress,
    cancelled: Callable[[], bool] = never,
    **parameters: Any,
) -> Release:
    """Make a release of ``data`` that keeps ``model``; ``algorithm=None`` takes the model's default.

    ``model`` is a privacy model, or its name with its ``parameters``: ``anonymize(data, "km", k=5, m=2)``.
    ``hierarchy`` is a Hierarchy or any text the command line takes; ``read_options`` are those of ``read``. The
    release is not verified yet: ``verify`` and ``publish`` do that.

    Args:
        data: anything that ``read`` takes, or Transactions.
        model: the promise, or its name (``"km"``, ``"k-anonymity"``, ``"constraints"``, ``"degree"``, ``"coherence"``).
        algorithm: its name, see ``algorithms()``.
        hierarchy: a Hierarchy, a file, or ``"auto"``, ``"fanout:5"``, ``"prefix:1,3"``, …
        options: the algorithm's own options.
        seed: of everything random.
        unknown_items: items missing from the hierarchy: ``"error"``, or ``"root"`` to put them below the root.
        read_options: how to read ``data``, as in ``read``.
        progress: called with a stage and the share that is done.
        cancelled: asked again and again; true stops the run.
        parameters: of the model, if it is given by name.

    Returns:
        A release; which of the four kinds depends on the algorithm.

    Raises:
        InfeasibleError: no release can keep the promise; ``items`` are in the way.
        InputError: the data, the model or an option is wrong.

    Examples:
        >>> import setveil as sv
        >>> release = sv.anonymize("baskets.txt", "km", k=2, m=2, algorithm="aa", hierarchy="taxonomy.csv")
        >>> release
        Recoding(6 records, 3 published items; aa for km)
        >>> release.codebook()["dairy"]
        ['cheese', 'milk']
    """
    data = read_twice(data, **(read_options or {}))
    with collected_warnings() as notes:
        promise = as_model(model, parameters)
        tree = resolve_hierarchy(hierarchy, data, unknown_items, promise, progress)
        source = hierarchy if isinstance(hierarchy, str) else "given" if hierarchy else ""
        context = Context(tree, engine_for(data), seed, progress, cancelled)
        release = make_release(data, promise, algorithm, options or {}, context, source)
    return with_warnings(release, notes)


def make_release(
    data: Transactions,
    model: PrivacyModel,
    algorithm: str | None,
    options: Mapping[str, Any],
    context: Context,
    hierarchy_source: str,
) -> Release:
    """The release of data in hand, with the record of its run; ``context`` holds the hierarchy, which fits the data."""
    check_lists(data, {what: getattr(model, what, None) for what in LISTS})
    refuse_all_sensitive(data, getattr(model, "sensitive", ()))
    started = time.perf_counter()
    algorithm = algorithm_for(data, model, algorithm)
    if algorithm is None and model.name in PORTFOLIO:
        from setveil.workflows.portfolio import take_least_loss

        algorithm, options, release = take_least_loss(data, model, options, context)
    else:
        entry = find_for(model.name, algorithm) if algorithm else default_for(model.name)
        chosen = make_algorithm(entry.load(), entry.name, options)
        if context.hierarchy is not None and entry.hierarchy == "none":
            warnings.warn(f'algorithm "{entry.name}" does not use a hierarchy.', SetveilWarning, stacklevel=2)
        algorithm, release = entry.name, chosen.run(data, model, context)
    original = data
    if isinstance(release, Grouping) and release.published.n_records < data.n_records:
        data = Grouping.without_bare(data, release.sensitive)  # records in line with the published ones
    _warn_about_one_item(data, release)
    record = RunRecord(
        data=data,
        model=model,
        algorithm=algorithm,
        options=dict(options),
        hierarchy=context.hierarchy,
        hierarchy_source=hierarchy_source,
        seed=context.seed,
        seconds={"anonymize": time.perf_counter() - started},
        original=original,
    )
    return replace(release, record=record)


def refuse_all_sensitive(data: Transactions, sensitive: Sequence[str]) -> None:
    """Where everything is sensitive, nothing can be published."""
    if sensitive and data.n_items and set(sensitive).issuperset(data.vocabulary):
        raise InputError(
            "sensitive: every item of the data is named, so that nothing would be left to publish; name fewer."
        )


LISTS = ("sensitive", "constraints", "utility")
FILE_NAME = re.compile(r"[/\\]|\.(?:txt|csv|tsv|dat|list|lst|toml|json)(?:\.gz)?$", re.IGNORECASE)  # or a path
PROTECTING = ("sensitive", "constraints")  # what these lists do not name is published in the open


def check_lists(data: Transactions, lists: Mapping[str, Any]) -> None:
    """Lists of items that the data does not have are slips: one of which nothing occurs is refused, others are told."""
    for what, given in lists.items():
        labels = {label for part in given or () for label in ([part] if isinstance(part, str) else part)}
        if what == "constraints" and given is not None and not labels:
            raise InputError("constraints: none is given, so that nothing would be protected; name what can be known.")
        strangers = sorted(label for label in labels if label not in data.vocabulary)
        if what == "sensitive" and len(labels) == len(strangers) == 1 and FILE_NAME.search(strangers[0]):
            raise InputError(
                f'{what}: there is no file "{one_line(strangers[0])}", and no item of that name; check the path.'
            )
        if strangers and len(strangers) == len(labels):
            raise InputError(
                f"{what}: none of the {len(labels):,} items is in the data: {name_some(strangers)}; nothing would "
                "be protected. Check the spelling, and that the list belongs to this data."
            )
        if what in PROTECTING:
            _check_spellings(data, what, labels, strangers)
        if strangers:
            warnings.warn(
                f"{what}: {name_some(strangers)} not in the data; check the spelling.", SetveilWarning, stacklevel=3
            )


def _check_spellings(data: Transactions, what: str, labels: set[str], strangers: Sequence[str]) -> None:
    """Who protects "flu" and has "Flu" in the data publishes it in the open: a slip if "flu" is not there at all."""
    spellings = set(map(as_read_aloud, labels))
    missed = [label for label in data.vocabulary if label not in labels and as_read_aloud(label) in spellings]
    if not missed:
        return
    told = (
        f"{what}: {name_some(missed)} in the data differs from an item of the list in case, blanks or invisible signs "
        "only"
    )
    if set(map(as_read_aloud, strangers)).intersection(map(as_read_aloud, missed)):
        raise InputError(f"{told}, and would not be protected; name it as the data does.")
    warnings.warn(f"{told}, and is not protected; name it as well, or mend the data.", SetveilWarning, stacklevel=4)


def _warn_about_one_item(data: Transactions, release: Release) -> None:
    """Nobody may overlook a release that says the same of everybody."""
    n_published, n_items = int((release.published.supports > 0).sum()), int((data.supports > 0).sum())
    if n_items > 1 and n_published <= 1 and not isinstance(release, Grouping):
        what = "everything was left out" if n_published == 0 else "everything is published as one item"
        warnings.warn(
            f"{what}: nothing can be learned from this release. An algorithm that leaves out a few rare entries "
            "keeps the rest (--algorithm trim), or choose a smaller k or m; `setveil suggest` looks for what "
            "fits.",
            SetveilWarning,
            stacklevel=3,
        )


@contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """Warnings meant for the user, for the record; they are shown once more by whoever called."""
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SetveilWarning)
        yield notes
    for warning in caught:
        if isinstance(warning.message, SetveilWarning):
            notes.append(str(warning.message))
        warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


def with_warnings(release: Release, notes: Sequence[str]) -> Release:
    """The release whose record tells what the user was warned of."""
    assert release.record is not None
    return replace(release, record=replace(release.record, warnings=tuple(notes)))
