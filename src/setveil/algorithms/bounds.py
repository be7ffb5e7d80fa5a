"""How near a release is to the best possible one, in a sentence. "Least" is said only where that is proven."""

from __future__ import annotations

from fractions import Fraction

OPTIMUM = "optimum"  # where an algorithm's details have the sentence; consoles and reports show it


def describe_entries(suppressed: int, total: int, bound: int, among: str = "such entries") -> str:
    """Suppressed entries of sensitive items, with a proven lower bound; ``among``: what competing releases
    suppress.
    """
    if not suppressed:
        return "No entry of a sensitive item is suppressed."
    done = f"{suppressed:,} of {total:,} entries of sensitive items are suppressed"
    if suppressed <= bound:
        return f"{done}. This is proven to be the least for a release that suppresses only {among}."
    return (
        f"{done}. A release that suppresses only {among} suppresses at least {bound:,}; the gap is "
        f"{100 * (suppressed - bound) / suppressed:.1f} %."
    )


def describe_loss(loss: Fraction, bound: Fraction) -> str:
    """The utility loss (UL) of categories, with a proven lower bound."""
    if loss <= bound:
        return "The utility loss (UL) of the categories is proven to be the least without suppression."
    times = f"{float(loss / bound):.3g} times" if bound and loss / bound < 1000 else "more than 1,000 times"
    return f"The utility loss (UL) of the categories is {times} a proven lower bound."
