"""Risk, verification, utility and attacks, for anything that the library reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from setveil.core import Dataset, Hierarchy, Transactions
from setveil.core.progress import Progress, no_progress
from setveil.engines import engine_for
from setveil.errors import InputError
from setveil.models import PrivacyModel, as_model
from setveil.releases import Release, RunRecord, is_grouped
from setveil.workflows.inputs import as_dataset, as_transactions, split_roles
from setveil.workflows.progress_bars import shows_progress

if TYPE_CHECKING:
    from setveil.risk import RiskTable
    from setveil.risk.attack import AttackTable
    from setveil.risk.guesses import GuessTable
    from setveil.verify import Verdict

KNOWN = (1, 2, 3, 4)
TARGETS = 1_000  # people attacked by each attacker in every run; `setveil attack` takes more
USUAL_K = 5  # what risk tables compare with where the model has no smallest number of records


@shows_progress
def risk(
    data: Any,
    known: Sequence[int] = KNOWN,
    *,
    sensitive: Iterable[str] = (),
    inference: bool = True,
    read_options: Mapping[str, Any] | None = None,
    progress: Progress | bool = no_progress,
    **options: Any,
) -> RiskTable:
    """The attacker's view of data or of a release: what a few known items reveal.

    Args:
        data: anything that ``read`` takes, Transactions, or a release.
        known: numbers of known items.
        sensitive: items to infer; any item unless given.
        inference: whether to try what known items reveal about further ones; never done on a cluster.
        read_options: how to read ``data``, as in ``read``.
        progress: called with a stage name and a fraction between 0 and 1.
        options: ``k`` (the number of records to compare with), ``seed``, ``budget`` (combinations up to which figures
            are exact), ``targets``, and how to read ``data``, as in ``read`` (``person``, ``item``, …).

    Returns:
        A table with a row per number of known items; it prints as one.

    Raises:
        InputError: the data cannot be read, or a number is out of range.

    Examples:
        >>> import setveil as sv
        >>> table = sv.risk("baskets.txt", known=(1, 2))
        >>> round(table.rows[1].singled_out, 2)
        0.5
    """
    from setveil.risk import risk as assess

    assert callable(progress)
    stated, options = split_roles(options)
    records = data.published if isinstance(data, Release) else as_dataset(data, **{**(read_options or {}), **stated})

    def of_records(rows: Transactions) -> RiskTable:
        table = assess(rows, known=known, progress=progress, **options)
        if not inference:
            return table
        from setveil.risk.exposure import expose

        progress("inferring further items", None)
        return replace(table, inference=expose(rows, known, sensitive, table.seed))

    def of_counts() -> RiskTable:
        from setveil.risk.distributed import distributed_risk

        return distributed_risk(records, known=known, progress=progress, **options)

    return records.look(of_records, of_counts)


def quick_risk(data: Any, model: PrivacyModel) -> RiskTable:
    """The risk table of every run: the same draws as ``risk`` takes by default, so that both show the same figures."""
    is_known = _can_be_known(model, data.vocabulary)
    if not is_known.all():  # on a cluster all items count as known, which is the more careful figure
        data = data.look(lambda rows: rows.keep_items(is_known), lambda: data)
    return risk(data, k=model.crowd or USUAL_K, inference=False)


def _can_be_known(model: PrivacyModel, labels: Iterable[str]) -> NDArray[np.bool_]:
    """Which items an attacker can know, by what the certificate says of the model: sensitive ones are not known."""
    sensitive, observable = set(model.options().get("sensitive", ())), model.observable_items
    return np.array([label not in sensitive and (observable is None or label in observable) for label in labels], bool)


def quick_attacks(
    data: Transactions, release: Release, seed: int, known: Sequence[int] = KNOWN
) -> list[dict[str, Any]]:
    """The attacks of every run, as plain figures: a thousand people for each attacker and number of known items."""
    from setveil.risk.attack import attack as carry_out
    from setveil.risk.attackers import TRIED

    table = carry_out(data, release, known, TARGETS, seed, strategies=TRIED, guess=False)
    return [row.to_dict() for row in table.rows]


def public_risk(release: Release, model: PrivacyModel, progress: Progress = no_progress) -> RiskTable:
    """The risk of a release as its files have it: anyone who has them gets the same figures."""
    if not release.has_own_records:  # nobody's record can be found
        from setveil.risk import RiskTable

        return RiskTable.of_nobody(release.published, model.crowd or USUAL_K)
    from setveil.io.releases.names import unguard

    published = release.published.without_index()
    cover = release.meaning.cover
    is_known = _can_be_known(model, map(unguard, release.domain_items))
    if not is_known.all():
        labels = np.repeat(np.arange(len(cover)), np.diff(cover.indptr))
        n_known = np.bincount(labels[is_known[cover.items]], minlength=len(cover))
        published = published.look(lambda rows: rows.keep_items(n_known > 0), lambda: published)
    release = replace(release, published=published)
    return risk(release, k=model.crowd or USUAL_K, inference=False, progress=progress)


@shows_progress
def verify(
    what: Any,
    model: PrivacyModel | str | None = None,
    *,
    read_options: Mapping[str, Any] | None = None,
    progress: Progress | bool = no_progress,
    **parameters: Any,
) -> Verdict:
    """Whether a release, or any records, meet the guarantee of a model; with a witness if not.

    Args:
        what: a release, or anything that ``read`` takes, also from other tools.
        model: the privacy model, or its name with its ``parameters``; a release knows its own.
        read_options: how to read ``what``, as in ``read``.
        progress: called with a stage name and a fraction between 0 and 1.
        parameters: parameters of the model, if ``model`` is a name, and how to read ``what``, as in ``read``.

    Returns:
        A verdict, which is true if the guarantee is met.

    Raises:
        InputError: the data cannot be read, or the model does not fit it.

    Examples:
        >>> import setveil as sv
        >>> sv.verify([{"a"}, {"a", "b"}], "km", k=2, m=1).witness
        ('b',)
        >>> bool(sv.verify([{"a", "b"}, {"a", "b"}], sv.KmAnonymity(k=2, m=2)))
        True
    """
    from setveil.verify import verify as check

    assert callable(progress)
    if isinstance(what, PrivacyModel):
        raise InputError("verify takes the records first, then the model: verify(records, model).")
    stated, parameters = split_roles(parameters)
    reading = {**(read_options or {}), **stated}
    records = what if isinstance(what, Release) else as_transactions(what, **reading)
    if model is None:
        model = what.model if isinstance(what, Release) else None
        if model is None:
            raise InputError(
                'these records do not name a privacy model; give one, as in verify(records, "km", k=5, m=2).'
            )
    return check(records, as_model(model, parameters), progress)


def measure(
    data: Any,
    release: Release,
    *,
    aligned: bool = True,
    read_options: Mapping[str, Any] | None = None,
    **options: Any,
) -> dict[str, Any]:
    """What the release cost: NCP, UL, suppression, added and removed items, as far as they apply.

    ``aligned=False``: the release's records are not in the order of ``data``; metrics that compare record with record
    are omitted.

    Args:
        data: the original: anything that ``read`` takes.
        release: the release made from it.
        aligned: whether both have their records in the same order.
        read_options: how to read ``data``, as in ``read``.
        options: the same as keywords: ``person``, ``item``, …

    Returns:
        Figures by name; ``docs/metrics.md`` defines them.

    Raises:
        InputError: the data cannot be read, or does not belong to the release.

    Examples:
        >>> import setveil as sv
        >>> release = sv.anonymize("baskets.txt", "km", k=2, m=2, algorithm="aa", hierarchy="taxonomy.csv")
        >>> round(sv.measure("baskets.txt", release)["exact_ratio"], 2)
        0.29
    """
    from setveil.utility import measure as compute

    data, release = _in_order("measure", data, release)
    original = as_dataset(data, **{**(read_options or {}), **options})
    return compute(original, _with_names(release, original), aligned=aligned)


@shows_progress
def attack(
    data: Any,
    release: Release,
    known: Sequence[int] = KNOWN,
    targets: int = 10_000,
    seed: int = 0,
    *,
    control: Any = None,
    read_options: Mapping[str, Any] | None = None,
    progress: Progress | bool = no_progress,
    **options: Any,
) -> AttackTable:
    """Attack a release of ``data`` with every attacker; ``control`` are people who are not in the data. See
    ``risk.attack``.

    Args:
        data: the original: anything that ``read`` takes.
        release: the release to attack.
        known: numbers of items that the attacker knows.
        targets: number of people that each attacker tries to find.
        seed: seed of the choice of people and known items.
        control: people who are not in the data, to compare with.
        read_options: how to read ``data`` and ``control``, as in ``read``.
        progress: called with a stage name and a fraction between 0 and 1.
        options: ``strategies``, ``sensitive``, ``wrong`` and ``aligned`` of ``risk.attack``, and how to read ``data``
            and ``control``, as in ``read``.

    Returns:
        A table of success rates with intervals; it prints as one.

    Raises:
        InputError: the data cannot be read, or does not belong to the release.

    Examples:
        >>> import setveil as sv
        >>> release = sv.anonymize("baskets.txt", "km", k=2, m=2, algorithm="aa", hierarchy="taxonomy.csv")
        >>> table = sv.attack("baskets.txt", release, known=(2,), targets=50, strategies=("random",))
        >>> table.rows[0].after.singled_out.value
        0.0
    """
    from setveil.risk.attack import attack as carry_out

    assert callable(progress)
    data, release = _in_order("attack", data, release)
    stated, options = split_roles(options)
    reading = {**(read_options or {}), **stated}
    original = as_transactions(data, **reading)
    others = None if control is None else as_transactions(control, **reading)
    if release.record is not None:
        options = {**guessing_options(release.record), **options}
    release = _with_names(release, original)
    return carry_out(original, release, known, targets, seed, control=others, progress=progress, **options)


def _in_order(name: str, data: Any, release: Any) -> tuple[Any, Release]:
    """The original and its release, given in either order."""
    if isinstance(data, Release) and not isinstance(release, Release):
        data, release = release, data
    if not isinstance(release, Release):
        raise InputError(
            f"{name} takes the original and a release: {name}(data, release), not {type(release).__name__}; "
            "open_release() opens a folder."
        )
    return data, release


def _with_names(release: Release, original: Dataset) -> Release:
    """A release read from files with the owner's items: files do not name suppressed items."""
    return release.with_items(original.vocabulary) if release.record is None else release


def public_metrics(release: Release) -> dict[str, int]:
    """The figures of a certificate: what the published files alone determine."""
    published = release.published
    return {
        **release.public_figures(),
        "n_published_items": int((published.supports > 0).sum()),
        "empty_records": published.n_empty,
    }


def quick_left_out(data: Transactions, release: Release, seed: int) -> dict[str, Any]:
    """What suppressed entries reveal, without running the program again; {} where there are none."""
    from setveil.risk.trimmed import attack_left_out

    promised = None if release.record is None else guessing_options(release.record).get("promised")
    table = attack_left_out(data, release, TARGETS, seed, promised)
    return {} if table is None else table.to_dict()


def quick_guesses(data: Dataset, release: Release) -> GuessTable | None:
    """Who of a group has its sensitive item: every guesser who does not run the program again; groupings only."""
    from setveil.risk.guesses import guess_both

    if not is_grouped(release) or release.record is None:
        return None
    known = guessing_options(release.record)
    return guess_both(data, release, known.get("promised"), known.get("remake"), release.record.seed, replay=False)


def guessing_options(record: RunRecord) -> dict[str, Any]:
    """What guessers who know the program need: the guarantee, and a way to make the release of other data."""
    return remaking(record.model, record.algorithm, record.options, record.seed, record.hierarchy)


def remaking(
    model: PrivacyModel, algorithm: str, options: Mapping[str, Any], seed: int, hierarchy: Hierarchy | None = None
) -> dict[str, Any]:
    """The same from a folder; only for models and algorithms where running the program again may help an attacker."""
    from setveil.algorithms import ENTRIES, Context, make_algorithm

    promised = {} if model.crowd is None else {"promised": 1 / model.crowd}
    entry = next((entry for entry in ENTRIES if entry.name == algorithm), None)  # None: made by hand
    if entry is None or not (entry.suppresses_entries or model.is_about_groups):
        return promised
    chosen = make_algorithm(entry.load(), algorithm, options)

    def remake(data: Dataset) -> Release:
        context = Context(hierarchy, engine_for(data), seed)
        release: Release = context.engine.run(chosen, data, model.strictest, context)
        return release

    return {**promised, "remake": remake}
