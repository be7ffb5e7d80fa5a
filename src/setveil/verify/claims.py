"""One question per release and model: does it hold, what breaks it, what holds really."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import islice
from typing import Any

from setveil.core.progress import Progress, no_progress
from setveil.errors import InputError, one_line, times
from setveil.models import PrivacyModel
from setveil.verify.published import Published, read_published
from setveil.verify.verdict import Verdict, Violation


def verify(what: Any, model: PrivacyModel, progress: Progress = no_progress) -> Verdict:
    """Whether published records meet the guarantee of a model, counted anew from these records.

    ``what`` is a release, transactions, or any iterable of iterables of labels. If it does not hold, the verdict
    carries a witness and its support. ``progress`` is called at least about every half second of work and may raise to
    stop.

    >>> verify([{"a"}, {"a", "b"}], KmAnonymity(k=2, m=1)).witness
    ('b',)
    """
    published, check = _published_for(what, model), _check_of(model)
    misnamed = _named_otherwise(published, model)
    return check(published, model, progress) if misnamed is None else misnamed


def judge(what: Any, model: PrivacyModel, progress: Progress = no_progress) -> tuple[Verdict, dict[str, int | float]]:
    """``verify`` and, where the claim holds, ``achieved``, in one reading."""
    published, checks = _published_for(what, model), _checks_of(model)
    misnamed = _named_otherwise(published, model)
    if misnamed is not None:
        return misnamed, {}
    if hasattr(checks, "judge"):  # the same counts answer both
        both: tuple[Verdict, dict[str, int | float]] = checks.judge(published, model, progress)
        return both
    verdict: Verdict = _check_of(model)(published, model, progress)
    counts = hasattr(checks, "achieved") and verdict.holds
    return verdict, checks.achieved(published, model, progress) if counts else {}


def minimal_violations(
    what: Any, model: PrivacyModel, limit: int = 1000, progress: Progress = no_progress
) -> list[Violation]:
    """Every minimal violation, by size, then in ascending order, up to ``limit``.

    k^m-anonymity and coherence: violating itemsets none of whose proper subsets violates (the *minimal privacy threats*
    of Liu and Wang). Constraints: violated constraints that contain no other. k-anonymity: the classes that fail.
    Privacy degree: sensitive items that records show, then those that are too frequent in a group, group by group.
    Every model with sensitive items: published items that cover a sensitive item under another name; if there are any,
    only these.

    Args:
        what: a release, or an iterable of sets.
        model: the privacy model.
        limit: how many to list.
        progress: called with a stage and the share that is done.

    Returns:
        The violations, each with its itemset and support; empty if the guarantee is met.

    Examples:
        >>> import setveil as sv
        >>> rows = [{"a", "b"}, {"a"}, {"b"}, {"a", "b", "c"}]
        >>> sv.minimal_violations(rows, sv.KmAnonymity(k=2, m=2))
        [Violation(itemset=('c',), support=1)]
    """
    published, checks = _published_for(what, model), _checks_of(model)
    misnamed = published.misnamed(model.options().get("sensitive") or ())
    found: Iterator[Violation] = (Violation((label,), support) for label, _, support in misnamed)
    if not misnamed:
        if not lists_violations(model):
            raise InputError(f'model "{model.name}" does not list violations; verify it without --all-violations.')
        found = checks.violations(published, model, progress, limit)
    return list(islice(found, max(limit, 0)))


def lists_violations(model: PrivacyModel) -> bool:
    """Whether the model's verifier can list violations; one of another package need not."""
    return hasattr(_checks_of(model), "violations")


def achieved(what: Any, model: PrivacyModel, progress: Progress = no_progress) -> dict[str, int | float]:
    """What really holds, exactly, in the terms of the model; a figure that nothing determines is missing.

    ``smallest_support`` (km, constraints, coherence), ``smallest_class`` and ``fewest_sensitive_items`` (k-anonymity,
    the latter for l > 1), ``suppressed_percentage`` (constraints), ``privacy_degree`` (degree), ``largest_percentage``
    (coherence).
    """
    checks = _checks_of(model)
    found: dict[str, int | float] = (
        checks.achieved(read_published(what), model, progress) if hasattr(checks, "achieved") else {}
    )
    return found


def _published_for(what: Any, model: PrivacyModel) -> Published:
    """What is to be checked; columns that the model would leave unprotected are an InputError."""
    _checks_of(model)
    published = read_published(what)
    model.check_columns((column.name, column.role) for column in published.columns)
    return published


def _named_otherwise(published: Published, model: PrivacyModel) -> Verdict | None:
    """The verdict on sensitive items that are published under another name than their own; None if there are none."""
    for label, item, support in published.misnamed(model.options().get("sensitive") or ()):
        reason = (
            f'the sensitive item "{one_line(item)}" is published as "{one_line(label)}" in {times(support, "record")}; '
            "only its own label may cover it."
        )
        return Verdict(False, (label,), support, reason)
    return None


def _checks_of(model: PrivacyModel) -> Any:
    """The module that checks a model: its ``check``, and ``violations`` and ``achieved`` where it has them."""
    if not isinstance(model, PrivacyModel):
        raise InputError(f"{type(model).__name__} is not a privacy model; `setveil algorithms` lists the models.")
    return import_module(model.verifier.partition(":")[0])


def _check_of(model: PrivacyModel) -> Callable[[Any, PrivacyModel, Progress], Verdict]:
    """The function that a model names as its verifier."""
    check: Callable[[Any, PrivacyModel, Progress], Verdict] = getattr(
        _checks_of(model), model.verifier.partition(":")[2]
    )
    return check
