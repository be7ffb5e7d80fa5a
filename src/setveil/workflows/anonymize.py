"""Make a release: find the algorithm, give it what it needs, keep the record of the run."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.algorithms import (
    PORTFOLIO,
    Algorithm,
    Context,
    Entry,
    default_for,
    entry_of,
    find,
    find_for,
    make_algorithm,
)
from setveil.algorithms.base import never
from setveil.core import Dataset, Hierarchy
from setveil.core.progress import Progress, no_progress
from setveil.engines import engine_for
from setveil.errors import InputError, collected_warnings, one_line, warn
from setveil.models import MODELS, PrivacyModel, as_model
from setveil.releases import Release, RunRecord
from setveil.workflows.cluster import algorithm_for
from setveil.workflows.forecast import before_running
from setveil.workflows.hierarchy import resolve_hierarchy
from setveil.workflows.inputs import read_twice, split_roles
from setveil.workflows.progress_bars import shows_progress
from setveil.workflows.request_checks import check_release, check_request

if TYPE_CHECKING:
    from setveil.policy.schema import Policy

WRONG_ORDER = "anonymize takes the data first, then the model: anonymize(data, model)."

log = logging.getLogger("setveil.anonymize")


@shows_progress
def anonymize(
    data: Any,
    model: PrivacyModel | Policy | str,
    algorithm: str | Algorithm | type[Algorithm] | None = None,
    hierarchy: Hierarchy | str | os.PathLike[str] | Mapping[str, Any] | Any = None,
    options: Mapping[str, Any] | None = None,
    seed: int = 0,
    *,
    unknown_items: str = "error",
    names: str | os.PathLike[str] | Mapping[str, str] | None = None,
    read_options: Mapping[str, Any] | None = None,
    progress: Progress | bool = no_progress,
    cancelled: Callable[[], bool] = never,
    **parameters: Any,
) -> Release:
    """Make a release of ``data`` that meets the guarantee of ``model``.

    The release is not verified yet: ``verify`` and ``publish`` do that.

    Args:
        data: anything that ``read`` takes, or Transactions.
        model: the privacy model, its name with its ``parameters``, as in ``anonymize(data, "km", k=5, m=2)``
            (``models()`` lists them), or a policy, which has everything else as well.
        algorithm: a name (see ``algorithms()``), or a class or instance of ``Algorithm``; None: the model's default.
        hierarchy: a Hierarchy, a file, ``"auto"``, ``"fanout:5"``, ``"prefix:1,3"``, …, a dict (item → parent, item →
            ancestors, or group → members), or a frame with the columns of a hierarchy file.
        options: the algorithm's own options.
        seed: seed of all random numbers.
        unknown_items: items missing from the hierarchy: ``"error"``, or ``"root"`` to put them below the root.
        names: a list of codes with descriptions (a file, or label → name), for codebook and reports.
        read_options: how to read ``data``, as in ``read``.
        progress: True for a bar, or a function that is called with a stage name and a fraction between 0 and 1.
        cancelled: polled regularly; return True to cancel the run.
        parameters: parameters of the model, if ``model`` is a name, and roles of columns: ``person``, ``item``,
            ``known`` (or ``known_columns``), ``sensitive_columns``, ``carry``, ``drop``, ``column_hierarchy``.

    Returns:
        A release; its kind depends on the algorithm.

    Raises:
        InfeasibleError: no release can meet the guarantee; ``items`` are the labels in the way.
        InputError: the data, the model or an option is wrong.

    Examples:
        >>> import setveil as sv
        >>> release = sv.anonymize("baskets.txt", "km", k=2, m=2, algorithm="aa", hierarchy="taxonomy.csv")
        >>> release
        Recoding(6 records, 3 published items; aa for km)
        >>> release.codebook()["dairy"]
        ['cheese', 'milk']
        >>> groups = {"dairy": ["milk", "cheese"], "drinks": ["beer", "wine"], "food": ["bread"]}
        >>> sv.anonymize("baskets.txt", "km", k=2, m=1, algorithm="aa", hierarchy=groups).verify().holds
        True
    """
    assert callable(progress)
    if isinstance(data, PrivacyModel):
        raise InputError(WRONG_ORDER)
    stated, parameters = split_roles(parameters)
    if not isinstance(model, PrivacyModel | str):
        settings = {"algorithm": algorithm, "hierarchy": hierarchy, "options": options, **parameters}
        return _by_policy(data, model, {**(read_options or {}), **stated}, settings, names, progress, cancelled)
    data = read_twice(data, **{**(read_options or {}), **stated})
    with collected_warnings() as notes:
        promise = as_model(model, parameters)
        tree = resolve_hierarchy(hierarchy, data, unknown_items, promise, progress)
        source = "" if hierarchy is None else "given"
        if isinstance(hierarchy, str | os.PathLike):
            source = os.fspath(hierarchy)
        context = Context(tree, engine_for(data), seed, progress, cancelled, source)
        release = make_release(data, promise, algorithm, options or {}, context)
    return with_warnings(with_names(release, names), notes)


def _by_policy(
    data: Any,
    policy: Policy,
    reading: Mapping[str, Any],
    settings: Mapping[str, Any],
    names: Any,
    progress: Progress,
    cancelled: Callable[[], bool],
) -> Release:
    """The release that a policy describes."""
    from setveil.policy.resolve import model_of
    from setveil.policy.schema import Policy
    from setveil.workflows.policies import hierarchy_of

    if isinstance(data, Policy) or (isinstance(data, str) and data in MODELS):
        raise InputError(WRONG_ORDER)
    if not isinstance(policy, Policy):
        raise InputError(
            f"the model is {type(policy).__name__}; give a privacy model, its name with its parameters, or a Policy."
        )
    said = [name for name, value in settings.items() if value is not None]
    if said:
        raise InputError(f"{', '.join(said)} given in addition to a policy, which has its own; remove them.")
    data = read_twice(data, **{**policy.reading(), **reading})
    with collected_warnings() as notes:
        tree = hierarchy_of(policy, data, progress)
        model = model_of(policy, data, tree)
        context = Context(tree, engine_for(data), policy.seed, progress, cancelled, policy.hierarchy.source or "")
        release = make_release(data, model, policy.algorithm.name, policy.algorithm.options, context)
    return with_warnings(with_names(release, names or policy.output.names), notes)


def make_release(
    data: Dataset,
    model: PrivacyModel,
    algorithm: str | Algorithm | type[Algorithm] | None,
    options: Mapping[str, Any],
    context: Context,
) -> Release:
    """The release of data in hand, with the record of its run; ``context`` holds the hierarchy, which fits the data."""
    check_request(data, model)
    if model.observable_items is not None:
        return _of_observable(data, model, algorithm, options, context)
    started = time.perf_counter()
    if algorithm is None or isinstance(algorithm, str):
        algorithm = algorithm_for(data, model, algorithm)
    if algorithm is None and model.name in PORTFOLIO:
        from setveil.workflows.portfolio import take_least_loss

        name, options, release, tree, built = take_least_loss(data.rows, model, options, context)
        package = find(name).package
        context = replace(context, hierarchy=tree, hierarchy_source=built or context.hierarchy_source)
    else:
        entry, chosen = _choose(model, algorithm, options)
        options = vars(chosen) if isinstance(algorithm, Algorithm) else options
        if context.hierarchy is not None and entry.hierarchy == "none":
            warn(f'algorithm "{entry.name}" does not use a hierarchy.')
        if not isinstance(algorithm, Algorithm):  # as it takes them
            options = {name: value for name in options if (value := getattr(chosen, name)) is not None}
        name, package = entry.name, entry.package
        data.look(lambda rows: before_running(rows.n_occurrences, entry.scales, entry.name), lambda: None)
        release = context.engine.run(chosen, data, model.strictest, context)
    log.info("%s by %s in %.1f s", model.name, name, time.perf_counter() - started)
    release = counted(release, data, model)
    original, data = data, release.published_part(data)
    check_release(data, release, model)
    _warn_of_mixed_categories(release, context)
    record = RunRecord(
        data=data,
        model=model,
        algorithm=name,
        options=dict(options),
        hierarchy=context.hierarchy,
        hierarchy_source=context.hierarchy_source,
        seed=context.seed,
        seconds={"anonymize": time.perf_counter() - started},
        package=package.strip("_") or "unknown",  # a class of a script is in "__main__"
        original=original,
    )
    return release.with_facts(record=record, model=model, algorithm=name)


def _of_observable(
    data: Dataset,
    model: PrivacyModel,
    algorithm: str | Algorithm | type[Algorithm] | None,
    options: Mapping[str, Any],
    context: Context,
) -> Release:
    """A release of the observable items, with all other items added unchanged: no attacker knows these."""
    assert model.observable_items is not None
    rows, tree = data.rows, context.hierarchy
    is_observable = np.array([label in model.observable_items for label in rows.vocabulary], dtype=bool)
    others = {label for label, known in zip(rows.vocabulary, is_observable.tolist(), strict=True) if not known}
    part = rows.keep_items(is_observable)
    within = context if tree is None else replace(context, hierarchy=tree.restricted(set(tree.vocabulary) - others))
    release = make_release(part, model.strictest, algorithm, options, within)
    record = release.record
    assert record is not None
    whole = counted(release.with_unchanged(rows, others), rows, model)
    check_release(rows, whole, model)
    record = replace(record, data=rows, model=model, original=rows, hierarchy=tree or record.hierarchy)
    return replace(whole, record=record, model=model, algorithm=release.algorithm)


def counted(release: Release, data: Dataset, model: PrivacyModel) -> Release:
    """The release with counts of generalized items, where these are safe beside it."""
    safe = model.item_counts
    return release if safe is None else release.with_item_counts(data, *safe)


def _warn_of_mixed_categories(release: Release, context: Context) -> None:
    """Say where an algorithm that merges freely put items together that have no common group in the hierarchy but the
    whole. Where items are generalized along the hierarchy, the name of its root says so.
    """
    from setveil.report.words import percent
    from setveil.utility.categories import purity_of

    found = purity_of(release, context.hierarchy) if release.hierarchy is None else None
    if found is not None and found.labels:
        n_mixed, name = len(found.labels), one_line(found.labels[0])
        which = f'one category ("{name}") mixes' if n_mixed == 1 else f'{n_mixed:,} categories ("{name}", …) mix'
        warn(
            f"as a last resort, {which} branches of the hierarchy: {percent(found.mixed)} of generalized entries have "
            "no common group below the root. Lower k or m, or use an algorithm that suppresses (trim), to avoid this."
        )


def _choose(
    model: PrivacyModel, algorithm: str | Algorithm | type[Algorithm] | None, options: Mapping[str, Any]
) -> tuple[Entry, Algorithm]:
    """The algorithm that was asked for, by name, as a class or as an object, with its options."""
    if isinstance(algorithm, str):
        entry = find_for(model.name, algorithm)
    elif algorithm is None:
        entry = default_for(model.name)
    else:
        kind = algorithm if isinstance(algorithm, type) else type(algorithm)
        if not issubclass(kind, Algorithm):
            raise InputError(f"{kind.__name__} is not an algorithm; derive it from setveil.Algorithm.")
        entry = entry_of(kind)
        if not entry.enforces(model.name):
            raise InputError(f'algorithm "{entry.name}" does not support model "{model.name}".')
        if isinstance(algorithm, Algorithm):
            if options:
                raise InputError(
                    f"{', '.join(options)} given with an algorithm object, which has its own options; remove them."
                )
            return entry, algorithm
        return entry, make_algorithm(kind, entry.name, options)
    return entry, make_algorithm(entry.load(), entry.name, options)


def with_warnings(release: Release, notes: Sequence[str]) -> Release:
    """The release whose record tells what the user was warned of, by the reader of the data, too."""
    assert release.record is not None
    reading = release.record.data.reading
    every = dict.fromkeys((*(reading.warnings if reading else ()), *notes))
    return release.with_facts(record=replace(release.record, warnings=tuple(every)))


def with_names(release: Release, given: str | os.PathLike[str] | Mapping[str, str] | None) -> Release:
    """The release whose codebook and reports show names beside labels: from a list in a file, or label → name."""
    if given is None:
        return release
    from setveil.io.hierarchies.names import read_names

    record = release.record
    assert record is not None, "names are for releases that were just made"
    tree = record.hierarchy
    groups = tree.published_labels[tree.n_items :] if tree is not None else ()
    labels = dict.fromkeys((*(record.original or record.data).vocabulary, *release.domain_items, *groups))
    if isinstance(given, Mapping):
        names = {label: str(given[label]) for label in labels if given.get(label)}
    else:
        names = read_names(given, labels)
    return release.with_facts(names=names)
