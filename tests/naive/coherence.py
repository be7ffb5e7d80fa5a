"""MM by the book: sets, itertools, nothing clever."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

from setveil.models import Coherence
from tests.naive.verify import coherence


def mm(records: Sequence[frozenset[str]], model: Coherence, loss: str = "occurrences") -> list[str]:
    """The suppressed items, in the order of their suppression after those that are moles alone."""
    items = sorted({item for record in records for item in record})
    alone = Coherence(model.h, model.k, 1, model.sensitive)
    suppressed = sorted(itemset[0] for itemset, _ in coherence(list(records), alone)[0])
    while moles := coherence([record - set(suppressed) for record in records], model)[0]:

        def score(item: str, now: list[tuple[tuple[str, ...], int]] = moles) -> Fraction:
            n_moles = sum(item in itemset for itemset, _ in now)
            return Fraction(n_moles, sum(item in record for record in records) if loss == "occurrences" else 1)

        suppressed.append(max((item for item in reversed(items) if item not in model.sensitive), key=score))
    return suppressed


def is_coherent(records: Sequence[frozenset[str]], model: Coherence) -> bool:
    """The definition, set by set."""
    hidden = frozenset(model.sensitive)
    for record in records:
        for size in range(1, model.p + 1):
            for itemset in combinations(sorted(record - hidden), size):
                fitting = [other for other in records if other.issuperset(itemset)]
                shared = max((sum(item in other for other in fitting) for item in hidden), default=0)
                if len(fitting) < model.k or Fraction(shared * 100, len(fitting)) > Fraction(str(model.h)):
                    return False
    return True
