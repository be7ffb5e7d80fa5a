"""One question per release and model: does it hold, what breaks it, what holds really."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from setveil.errors import InputError
from setveil.models import Coherence, ConstraintAnonymity, KAnonymity, KmAnonymity, PrivacyDegree, PrivacyModel
from setveil.verify import coherence, constraints, degree, k_anonymity, km
from setveil.verify.published import read_published
from setveil.verify.verdict import Progress, Verdict, Violation, unwatched


def verify(what: Any, model: PrivacyModel, progress: Progress = unwatched) -> Verdict:
    """Whether what is published keeps a model's promise, counted anew from the published records.

    ``what`` is a release, transactions, or any iterable of iterables of labels. If it does not hold, the verdict carries
    a witness and its support. ``progress`` is called at least about every half second of work and may raise to stop.

    >>> verify([{"a"}, {"a", "b"}], KmAnonymity(k=2, m=1)).witness
    ('b',)
    """
    published = read_published(what)
    match model:
        case KmAnonymity():
            return km.check(published, model, progress)
        case KAnonymity():
            return k_anonymity.check(published, model, progress)
        case ConstraintAnonymity():
            return constraints.check(published, model, progress)
        case PrivacyDegree():
            return degree.check(published, model, progress)
        case Coherence():
            return coherence.check(published, model, progress)
    raise InputError(f"there is no check for model {type(model).__name__}.")


def minimal_violations(
    what: Any, model: PrivacyModel, limit: int = 1000, progress: Progress = unwatched
) -> list[Violation]:
    """Every minimal violation, by size, then in ascending order, up to ``limit``.

    k^m-anonymity and coherence: violating itemsets none of whose proper subsets violates (the *minimal privacy threats*
    of Liu and Wang). Constraints: violated constraints that contain no other. k-anonymity: the classes that fail.
    Privacy degree: sensitive items in the open, then those that are too frequent in a group, group by group.
    """
    return list(islice(_violations(what, model, limit, progress), max(limit, 0)))


def _violations(what: Any, model: PrivacyModel, limit: int, progress: Progress) -> Iterator[Violation]:
    published = read_published(what)
    match model:
        case KmAnonymity():
            return km.violations(published, model, progress)
        case KAnonymity():
            return k_anonymity.violations(published, model, progress, limit)
        case ConstraintAnonymity():
            return constraints.violations(published, model, progress)
        case PrivacyDegree():
            return degree.violations(published, model, progress)
        case Coherence():
            return coherence.violations(published, model, progress)
    raise InputError(f"there is no check for model {type(model).__name__}.")


def achieved(what: Any, model: PrivacyModel, progress: Progress = unwatched) -> dict[str, int | float]:
    """What really holds, exactly, in the terms of the model; a figure that nothing determines is left out.

    ``smallest_support`` (km, constraints, coherence), ``smallest_class`` and ``fewest_sensitive_items`` (k-anonymity, the
    latter for l > 1), ``suppressed_percentage`` (constraints), ``privacy_degree`` (degree), ``largest_percentage``
    (coherence).
    """
    published = read_published(what)
    match model:
        case KmAnonymity():
            return km.achieved(published, model, progress)
        case KAnonymity():
            return k_anonymity.achieved(published, model, progress)
        case ConstraintAnonymity():
            return constraints.achieved(published, model, progress)
        case PrivacyDegree():
            return degree.achieved(published, model, progress)
        case Coherence():
            return coherence.achieved(published, model, progress)
    raise InputError(f"there is no check for model {type(model).__name__}.")
