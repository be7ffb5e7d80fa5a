"""How numbers and names are put to people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setveil.errors import printable

# The metrics shown to people and put into the certificate; everything measured is in run.json.
METRICS: dict[str, str] = {
    "exact_ratio": "share of entries published unchanged",
    "largest_set": "items covered by the broadest category",
    "category_purity": "share of a category's items that belong to its main branch of the hierarchy",
    "mixed_ratio": "share of generalized entries in categories that mix branches",
    "ncp": "information loss by generalization (NCP, 0 to 1)",
    "lm": "information loss, suppression included (LM, 0 to 1)",
    "ul_log2": "utility loss of merged items (UL, log2)",
    "suppression_ratio": "share of entries suppressed",
    "il": "items added or removed",
    "il_ratio": "items added or removed, per entry of the original",
    "added_ratio": "items added, per entry of the original",
    "removed_ratio": "items removed, per entry of the original",
    "kl_uniform": "error of reconstructed sensitive items (KL, items drawn uniformly)",
    "kl_frequency": "the same, items drawn by frequency",
    "kl_cooccurring": "the same, items that occur with the sensitive one",
    "ncp_columns": "information loss of columns (NCP, 0 to 1)",
    "discernibility": "discernibility (sum of squared class sizes)",
    "n_classes": "classes of people who match each other",
    "n_groups": "groups",
    "n_counted_pairs": "pairs of items with a published count",
    "n_counted_triples": "triples of items with a published count",
    "n_published_items": "different labels published",
    "empty_records": "records published empty",
}

ACHIEVED: dict[str, str] = {
    "smallest_support": "smallest number of records that share what an attacker may know",
    "smallest_class": "smallest number of records in a class",
    "fewest_sensitive_values": "smallest number of different sensitive values in a class",
    "people_in_revealing_classes": "people whose columns alone reveal an item or a sensitive value with certainty",
    "fewest_sensitive_items": "smallest number of different sensitive items in a class",
    "suppressed_percentage": "items suppressed",
    "largest_percentage": "largest share of matching records with one sensitive item",
    "privacy_degree": "achieved privacy degree",
}


# A figure is public only if the published files alone determine it; everything else is internal.
PUBLIC_METRICS = ("n_groups", "n_counted_pairs", "n_counted_triples", "n_published_items", "empty_records")


SHARES = (
    "exact_ratio",
    "category_purity",
    "mixed_ratio",
    "suppression_ratio",
    "il_ratio",
    "added_ratio",
    "removed_ratio",
)  # shown as percent


def achieved_lines(achieved: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What verifying found, as words and figures."""
    return [
        (
            ACHIEVED.get(name, name.replace("_", " ")),
            percent(value / 100) if name.endswith("_percentage") else figure(value),
        )
        for name, value in achieved.items()
    ]


def metric_lines(metrics: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The metrics shown to people, as words and figures: those of METRICS, then those of other packages."""
    from setveil.utility.columns import OF_COLUMN
    from setveil.utility.measure import FAMILIES

    columns = {name: f'information loss of column "{short(name[len(OF_COLUMN):])}" (NCP)' for name in metrics
               if name.startswith(OF_COLUMN)}  # fmt: skip
    labels = METRICS | columns | {name: words for family in FAMILIES for name, words in family.labels.items()}
    shown = ((name, words, metrics.get(name)) for name, words in labels.items())
    return [
        (words, percent(value) if name in SHARES else figure(value))
        for name, words, value in shown
        if value is not None
    ]


def figure(value: Any) -> str:
    """A number for people: thousands grouped, at most four significant digits."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 10_000 else f"{value:,.0f}"
    return str(value)


def short(label: str, most: int = 60) -> str:
    """A label for a page: long ones are cut, and nothing in it turns the direction of writing."""
    label = label if label.isprintable() else printable(label)
    return label if len(label) <= most else label[: most - 1] + "…"


def named(label: str, names: Mapping[str, str]) -> str:
    """A label for a page, with its name where the owner gave a list of names."""
    name = names.get(label)
    return short(f"{label} {name}" if name else label)


def percent(share: float | None) -> str:
    """``12.3 %``; small but positive shares never become 0."""
    if share is None:
        return "–"
    if 1e-9 < share < 0.0001:  # less is what the rounding of sums leaves of 0
        return "< 0.01 %"
    if share >= 10:
        return f"{100 * share:,.0f} %"
    return f"{100 * share:.2f} %" if share < 0.1 else f"{100 * share:.1f} %"


def short_percent(share: float | None) -> str:
    """A share with the digits that a comparison needs: 77 %, 5.4 %, 0.03 %. Only none is 0 %, and only all 100 %."""
    if share is None:
        return "–"
    value = 100 * share
    if 0 < value < 0.01:
        return "below 0.01 %"
    if 99.9 < value < 100:
        return "above 99.9 %"
    digits = 2 if 0 < value < 1 else 1 if 1 <= value < 10 or 99 < value < 100 else 0
    return f"{value:.{digits}f} %"
