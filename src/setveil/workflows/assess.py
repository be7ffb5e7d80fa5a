"""Questions about data and releases, asked of anything the library takes: risk, verify, measure, attack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from setveil.core import Hierarchy, RemoteTransactions, Transactions
from setveil.core.progress import Progress, no_progress
from setveil.models import KmAnonymity, PrivacyDegree, PrivacyModel, as_model
from setveil.releases import Grouping, Release, RunRecord
from setveil.workflows.reading import as_transactions

if TYPE_CHECKING:
    from setveil.risk import RiskTable
    from setveil.risk.attack import AttackTable
    from setveil.risk.guesses import GuessTable
    from setveil.risk.intervals import Rate
    from setveil.verify import Verdict

KNOWN = (1, 2, 3, 4)
TARGETS = 1_000  # people attacked in passing; `setveil attack` takes more
QUICK = 12_000_000  # combinations looked at for the risk in passing; `setveil risk` takes its time
USUAL_CROWD = 5  # for models without a number of records that must be alike


def risk(
    data: Any,
    known: Sequence[int] = KNOWN,
    *,
    read_options: Mapping[str, Any] | None = None,
    progress: Progress = no_progress,
    **options: Any,
) -> RiskTable:
    """The attacker's view of data or of a release: what so many known items reveal.

    Args:
        data: anything that ``read`` takes, Transactions, or a release.
        known: numbers of known items to look at.
        read_options: how to read ``data``, as in ``read``.
        progress: called with a stage and the share that is done.
        options: ``k`` (the crowd to compare with), ``seed``, ``budget`` (combinations up to which figures are exact),
            ``targets``.

    Returns:
        A table with a row per number of known items; it prints as one.

    Raises:
        InputError: the data cannot be read, or a number makes no sense.

    Examples:
        >>> import setveil as sv
        >>> table = sv.risk("baskets.txt", known=(1, 2))
        >>> round(table.rows[1].singled_out, 2)
        0.5
    """
    from setveil.risk import risk as assess

    records = data.published if isinstance(data, Release) else as_transactions(data, **(read_options or {}))
    if isinstance(records, RemoteTransactions):
        from setveil.risk.elsewhere import risk_elsewhere

        return risk_elsewhere(records, known=known, progress=progress, **options)
    return assess(records, known=known, progress=progress, **options)


def quick_risk(data: Any, model: PrivacyModel, seed: int) -> RiskTable:
    """The risk in passing, sampled where counting everything would take long, beside what the model promises."""
    return risk(data, seed=seed, budget=QUICK, k=model.crowd or USUAL_CROWD)


def quick_attacks(data: Transactions, release: Release, seed: int) -> list[dict[str, Any]]:
    """A few attacks in passing, as plain figures: random and rarest items of a thousand people, against their
    control.
    """
    from setveil.risk.attack import attack as carry_out

    table = carry_out(data, release, KNOWN, TARGETS, seed, strategies=("random", "rarest"), guess=False)
    return [
        {
            "strategy": row.strategy,
            "known": row.known,
            "n_targets": row.n_targets,
            "has_secrets": row.n_secrets > 0,
            "singled_out_before": _value(row.before.singled_out),
            "singled_out": _value(row.after.singled_out),
            "linked_before": _value(row.before.linked),
            "linked": _value(row.after.linked),
            "inferred": _value(row.after.inferred),
            "control": _value(row.control.inferred) if row.control else None,
        }
        for row in table.rows
    ]


def _value(rate: Rate | None) -> float | None:
    return None if rate is None else float(rate.value)


def public_risk(release: Release, model: PrivacyModel, progress: Progress = no_progress) -> RiskTable:
    """The risk of a release as its files have it: anyone who has them gets the same figures."""
    if not isinstance(release.published, RemoteTransactions):
        release = replace(release, published=replace(release.published))  # what is indexed for this goes with it
    return risk(release, seed=0, budget=QUICK, k=model.crowd or USUAL_CROWD, progress=progress)


def verify(
    what: Any,
    model: PrivacyModel | str,
    *,
    read_options: Mapping[str, Any] | None = None,
    progress: Progress = no_progress,
    **parameters: Any,
) -> Verdict:
    """Whether a release, or anything that holds records, keeps a model; with a witness if not.

    Args:
        what: a release, or anything that ``read`` takes, whoever made it.
        model: the promise, or its name with its ``parameters``.
        read_options: how to read ``what``, as in ``read``.
        progress: called with a stage and the share that is done.
        parameters: of the model, if it is given by name.

    Returns:
        A verdict, which is true if the promise holds.

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

    records = what if isinstance(what, Release) else as_transactions(what, **(read_options or {}))
    return check(records, as_model(model, parameters), progress)


def measure(
    data: Any, release: Release, *, aligned: bool = True, read_options: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """What the release cost: NCP, UL, suppression, added and removed items, as far as they apply.

    ``aligned=False``: the release's records are not in the order of ``data``; what compares record with record is left
    out.

    Args:
        data: the original: anything that ``read`` takes.
        release: what became of it.
        aligned: whether both have their records in the same order.
        read_options: how to read ``data``, as in ``read``.

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

    original = as_transactions(data, **(read_options or {}))
    return compute(original, _with_names(release, original), aligned=aligned)


def attack(
    data: Any,
    release: Release,
    known: Sequence[int] = KNOWN,
    targets: int = 10_000,
    seed: int = 0,
    *,
    control: Any = None,
    read_options: Mapping[str, Any] | None = None,
    progress: Progress = no_progress,
    **options: Any,
) -> AttackTable:
    """Attack a release of ``data`` in every way; ``control`` are people who are not in the data. See ``risk.attack``.

    Args:
        data: the original: anything that ``read`` takes.
        release: what is attacked.
        known: how many items the attacker knows.
        targets: how many people are attacked.
        seed: of the choice of targets and of what is known.
        control: people who are not in the data, to compare with.
        read_options: how to read ``data`` and ``control``, as in ``read``.
        progress: called with a stage and the share that is done.
        options: ``strategies``, ``sensitive``, ``wrong`` and ``aligned`` of ``risk.attack``.

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

    original = as_transactions(data, **(read_options or {}))
    others = None if control is None else as_transactions(control, **(read_options or {}))
    if release.record is not None:
        options = {**guessing_options(release.record), **options}
    release = _with_names(release, original)
    return carry_out(original, release, known, targets, seed, control=others, progress=progress, **options)


def _with_names(release: Release, original: Transactions) -> Release:
    """A release read from files as one that knows the owner's items: files do not name what was left out."""
    return release.with_items(original.vocabulary) if release.record is None else release


def public_metrics(release: Release) -> dict[str, int]:
    """The figures of a certificate: what the published files alone determine."""
    published = release.published
    groups = {"n_groups": release.n_groups} if isinstance(release, Grouping) else {}
    return {
        **groups,
        "n_published_items": int((published.supports > 0).sum()),
        "empty_records": published.n_empty,
    }


def quick_left_out(data: Transactions, release: Release, seed: int) -> dict[str, Any]:
    """What entries that were left out give away, without replaying the program; {} where there are none."""
    from setveil.risk.trimmed import attack_left_out

    promised = None if release.record is None else guessing_options(release.record).get("promised")
    table = attack_left_out(data, release, TARGETS, seed, promised)
    return {} if table is None else table.to_dict()


def quick_guesses(data: Transactions, release: Release) -> GuessTable | None:
    """Who of a group holds its sensitive item: every guesser who does not make the release anew; groupings only."""
    from setveil.risk.guesses import guess_both

    if not isinstance(release, Grouping) or release.record is None:
        return None
    known = guessing_options(release.record)
    return guess_both(data, release, known.get("promised"), known.get("remake"), release.record.seed, replay=False)


def guessing_options(record: RunRecord) -> dict[str, Any]:
    """What guessers who know the program need: the promise, and a way to make the release of other data."""
    return remaking(record.model, record.algorithm, record.options, record.seed, record.hierarchy)


def remaking(
    model: PrivacyModel, algorithm: str, options: Mapping[str, Any], seed: int, hierarchy: Hierarchy | None = None
) -> dict[str, Any]:
    """The same from what a folder tells; only for models and algorithms that somebody can gain from replaying."""
    from setveil.algorithms import ENTRIES, Context, find, make_algorithm

    if not isinstance(model, PrivacyDegree | KmAnonymity):
        return {}
    promised = {"promised": 1 / (model.p if isinstance(model, PrivacyDegree) else model.k)}
    by_hand = all(entry.name != algorithm for entry in ENTRIES)  # nobody can make it again
    if by_hand or (isinstance(model, KmAnonymity) and algorithm != "trim"):
        return promised
    chosen = make_algorithm(find(algorithm).load(), algorithm, options)
    return {**promised, "remake": lambda data: chosen.run(data, model, Context(seed=seed, hierarchy=hierarchy))}
