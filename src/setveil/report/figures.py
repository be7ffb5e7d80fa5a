"""The figures that people see, each computed in one place: console, JSON output, reports, web page, comparison and
suggestion all ask here, so that one quantity has one value, one base and one rounding everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from setveil.errors import name_some
from setveil.report.words import percent

if TYPE_CHECKING:
    from setveil.report.facts import Facts

SIZES = {
    "singles": "single items",
    "pairs": "pairs",
    "triples": "triples",
    "mixed": "people by columns and items",
}
ALL_PEOPLE = "all people"

Rows = Sequence[Mapping[str, Any]]


# -- residual risk -----------------------------------------------------------------------------------------------------


def known_words(known: int, columns: Sequence[str] = ()) -> str:
    """What attackers know, after "with"; ``columns``: those that they know besides the items."""
    if columns and not known:
        return "the known columns alone"
    items = "one known item" if known == 1 else f"up to {known} known items"
    return f"the known columns and {items}" if columns else items


UNSETTLED = 0.05  # between a figure and the upper end of its interval; the size of a sample alone leaves less


class Residual(NamedTuple):
    """How many people an attacker singles out: exactly one record fits, and it is the right one."""

    attacker: str  # its name
    words: str  # what the attacker does, after "an attacker who"
    known: int
    of_all_people: float  # share of everybody in the release: what the light goes by
    singled_out: float  # share of the base
    interval: tuple[float, float] | None  # 95 %, of the share of the base; None if it is exact
    base: str
    n_people: int  # in the base
    before: float | None  # the same attack on the original
    control: float | None  # attacks on people who are not in the data that end with exactly one record
    before_of_all: float | None = None  # the same attack on the original, as a share of all people
    columns: Sequence[str] = ()  # that the attacker knows besides the items

    @property
    def at_most(self) -> float:
        """What a sample of another attack may show, where this attacker knows the most identifying items: anything,
        if this figure is exact.
        """
        return 1.0 if self.interval is None else self.interval[1]

    @property
    def is_unsettled(self) -> bool:
        """Whether the search for identifying items ended for many people before it found out."""
        return (
            self.attacker == "identifying" and self.interval is not None and self.at_most > self.singled_out + UNSETTLED
        )

    @property
    def sentence(self) -> str:
        """Whom the attacker singles out, with both bases."""
        text = f"An attacker who {self.words} singles out {percent(self.of_all_people)} of {ALL_PEOPLE}"
        if self.of_all_people != self.singled_out:
            text += f", {percent(self.singled_out)} of {self.base}"
        return text + ("" if self.before is None else f" ({percent(self.before)} before anonymization)")

    def to_dict(self) -> dict[str, Any]:
        plain = {**self._asdict(), "interval": None if self.interval is None else list(self.interval)}
        columns = list(plain.pop("columns"))
        return {**plain, "known_columns": columns} if columns else plain


def worst_by_known(attacks: Rows, risk_after: Rows, risk_before: Rows = ()) -> list[Residual]:
    """For each number of known items the attacker who singles out the largest share of all people.

    ``attacks``: carried out with the original at hand. ``risk_after``: what published labels reveal, as anyone who has
    the release can count it; ``risk_before``: the same of the original. No attacker does better than the one who knows
    the most identifying labels (``risk.worst``), so the others count only where that one was not tried, or where what
    they found in their sample is beyond its 95 % interval.
    """
    before = {row["known"]: row.get("worst_singled_out") for row in risk_before}
    worst = {
        row["known"]: _identifying(row, before.get(row["known"]))
        for row in risk_after
        if row.get("worst_singled_out") is not None
    }
    tried = [_attacked(row) for row in attacks if row["singled_out"] is not None]
    tried += [_by_labels(row) for row in risk_after if row["singled_out"] is not None and row["known"] not in worst]
    tried = [one for one in tried if one.known not in worst or one.of_all_people > worst[one.known].at_most]
    if not worst and not any(one.of_all_people for one in tried):  # nobody can be singled out any more
        rows = [row for row in risk_before if row.get("worst_singled_out") is not None]
        nobody = {"worst_singled_out": 0.0, "worst_singled_out_interval": None}
        worst = {row["known"]: _identifying({**row, **nobody}, row["worst_singled_out"]) for row in rows}
        tried = [one for one in tried if one.known not in worst]
    tried += worst.values()
    return [
        max((one for one in tried if one.known == known), key=lambda one: one.of_all_people)
        for known in sorted({one.known for one in tried})
    ]


def worst_of(attacks: Rows, risk_after: Rows, risk_before: Rows = ()) -> Residual | None:
    """The worst of all attackers tried; the one who knows least where several are alike, but at least an item."""
    tried = worst_by_known(attacks, risk_after, risk_before)
    return max(tried, key=lambda one: (one.of_all_people, one.known if not one.of_all_people else 0), default=None)


def residual_of(facts: Facts) -> Residual | None:
    """The residual risk of a release; None if no person has an item that could be known."""
    return worst_of(facts.attacks, facts.risk_after, facts.risk_before)


def mean_risk(risk_after: Rows, reach: float | None) -> tuple[float | None, str]:
    """Average (marketer) risk: the mean probability of picking the right record, for the attacker of the guarantee
    where there is one, and its base. None if nothing can be known. ``reach``: how many items that attacker knows.
    """
    rows = [row for row in risk_after if row.get("mean_inverse_support") is not None]
    if not rows:
        return None, "no published record has an item that could be known"
    within = [row for row in rows if reach is None or row["known"] <= reach] or rows[:1]
    row = max(within, key=lambda row: row["known"])
    base = "mean over all people, whose columns are known"
    if row["known"]:
        label, columns = (
            "label" if row["known"] == 1 else "labels",
            " besides the columns" if row.get("columns") else "",
        )
        base = f"mean over people with {row['known']} known published {label}{columns}"
    return row["mean_inverse_support"], base


def _attacked(row: Mapping[str, Any]) -> Residual:
    found = row["singled_out"]
    value, low, high = found["after"]
    return Residual(
        row["attacker"],
        row["words"],
        row["known"],
        found["of_all_people"],
        value,
        None if low == high else (low, high),
        row["base"],
        row["n_people"],
        None if found["before"] is None else found["before"][0],
        None if found["control"] is None else found["control"][0],
        None if found["before"] is None else found["before"][0] * row["n_people"] / row["n_all_people"],
        row.get("known_columns", ()),
    )


def _identifying(row: Mapping[str, Any], before: float | None) -> Residual:
    known, columns, interval = row["known"], row.get("columns", ()), row["worst_singled_out_interval"]
    return Residual(
        "identifying",
        f"knows {identifying_words(known, columns)}",
        known,
        row["worst_singled_out"],
        row["worst_singled_out"],
        None if interval is None else (interval[0], interval[1]),
        ALL_PEOPLE,
        round(row["n_records"] / row["share_of_records"]),
        before,
        None,
        before,
        columns,
    )


def identifying_words(known: int, columns: Sequence[str] = ()) -> str:
    """What the worst attacker knows."""
    items = "one item of a person, the most identifying one,"
    if known > 1:
        items = f"up to {known} items of a person, the most identifying ones,"
    return _with_columns(items, known, columns, "column")


def _with_columns(items: str, known: int, columns: Sequence[str], kind: str) -> str:
    """What is known, columns first; ``known``: how many items."""
    if not columns:
        return items
    named = f"the {kind}{'s' if len(columns) > 1 else ''} {name_some(columns)}"
    return f"{named} and {items}" if known else f"{named} of a person"


def _by_labels(row: Mapping[str, Any]) -> Residual:
    known = row["known"]
    label = "label" if known == 1 else "labels"
    interval, columns = row["singled_out_interval"], row.get("columns", ())
    words = _with_columns(f"{known} {label} of a person's published record", known, columns, "published column")
    return Residual(
        "labels",
        f"knows {words}",
        known,
        row["singled_out"] * row["share_of_records"],
        row["singled_out"],
        None if interval is None else (interval[0], interval[1]),
        f"people with at least {known} published {label}" if known else ALL_PEOPLE,
        row["n_records"],
        None,
        None,
        None,
        columns,
    )


# -- inference ---------------------------------------------------------------------------------------------------------


class Inference(NamedTuple):
    """Of how many people an attacker becomes certain of a further item; where sensitive items are named, of one of
    these.
    """

    attacker: str
    words: str  # what the attacker does, after "an attacker who"
    known: int
    is_named: bool  # sensitive items are named
    base: str
    of_all_people: float
    certain: float  # share of the base
    interval: tuple[float, float] | None  # 95 %, of the share of the base; None if it is exact
    before: float  # the same attack on the original
    control: float | None  # the same for people who are not in the data
    likely: float  # share of the base with an item of a probability above 50 %
    likely_before: float
    likely_control: float | None
    category: float | None  # share of the base with a further label that is certain, whatever it covers
    category_control: float | None
    highest: float | None  # probability of a named item, over all people attacked
    columns: Sequence[str] = ()  # that the attacker knows besides the items

    @property
    def share(self) -> float:
        """What the light goes by: few people have a sensitive item, so these are the base where items are named."""
        return self.certain if self.is_named else self.of_all_people

    @property
    def what(self) -> str:
        return "a sensitive item" if self.is_named else "a further item"

    @property
    def sentence(self) -> str:
        """The figure with its base, the original, the control and the interval."""
        if self.certain == 0:
            items = known_words(self.known, self.columns)
            return f"With {items}, no attacker tried becomes certain of {self.what} of anyone{self._categories}"
        text = f"An attacker who {self.words} becomes certain of {self.what} for "
        if not self.is_named:
            text += f"{percent(self.of_all_people)} of {ALL_PEOPLE}"
        if self.is_named or self.of_all_people != self.certain:
            text += f"{'' if self.is_named else ', '}{percent(self.certain)} of {self.base}"
        others = [f"{percent(self.before)} before anonymization"]
        if self.control is not None:
            others.append(f"{percent(self.control)} for people not in the data")
        if self.interval is not None:
            others.append(f"95 % interval {percent(self.interval[0])} to {percent(self.interval[1])}")
        return f"{text} ({'; '.join(others)}){self._categories}"

    @property
    def _categories(self) -> str:
        """A sentence about further labels that are certain, where these are more than items."""
        if self.category is None or self.category <= self.certain:
            return ""
        control = (
            "" if self.category_control is None else f" ({percent(self.category_control)} for people not in the data)"
        )
        return f". A further item or category becomes certain for {percent(self.category)} of {self.base}{control}"

    def to_dict(self) -> dict[str, Any]:
        return {
            "attacker": self.attacker,
            "words": self.words,
            "known": self.known,
            "sensitive_items_named": self.is_named,
            "base": self.base,
            "certain": {
                "of_all_people": self.of_all_people,
                "before": self.before,
                "after": self.certain,
                "interval": None if self.interval is None else list(self.interval),
                "control": self.control,
            },
            "likely": {"before": self.likely_before, "after": self.likely, "control": self.likely_control},
            "certain_category": {"after": self.category, "control": self.category_control},
            "highest_probability": self.highest,
        }


def inference_by_known(attacks: Rows) -> list[Inference]:
    """For each number of known items the attacker who becomes certain about the largest share of people."""
    tried = [_inferred(row) for row in attacks if row.get("certain")]
    return [
        max((one for one in tried if one.known == known), key=lambda one: (one.share, one.likely, one.category or 0.0))
        for known in sorted({one.known for one in tried})
    ]


def worst_inference(attacks: Rows) -> Inference | None:
    """The worst of these; the one who knows most where several are alike. None if no attack was carried out."""
    return max(inference_by_known(attacks), key=lambda one: (one.share, one.known), default=None)


def highest_probability(attacks: Rows) -> float | None:
    """Of a named sensitive item, over all people attacked; None where none is named."""
    found = [row["highest_probability"]["after"] for row in attacks if row.get("highest_probability")]
    return max((value for value in found if value is not None), default=None)


def _inferred(row: Mapping[str, Any]) -> Inference:
    certain, likely, category = row["certain"], row["likely"], row["certain_category"]
    value, low, high = certain["after"]

    def first(rate: Any) -> Any:
        return None if rate is None else rate[0]

    return Inference(
        row["attacker"],
        row["words"],
        row["known"],
        category is None,
        certain["base"],
        certain["of_all_people"],
        value,
        None if low == high else (low, high),
        certain["before"][0],
        first(certain["control"]),
        likely["after"][0],
        likely["before"][0],
        first(likely["control"]),
        None if category is None else category["after"][0],
        None if category is None else first(category["control"]),
        row["highest_probability"]["after"],
        row.get("known_columns", ()),
    )


# -- utility -----------------------------------------------------------------------------------------------------------


NOISE = 1e-9  # what rounding of sums leaves of an error of 0


class CountErrors(NamedTuple):
    """Relative errors of counts that are read off a release."""

    median: float
    mean: float
    largest: float
    estimator: str = ""

    @property
    def words(self) -> str:
        """Both figures; "exact" only if every count is."""
        if self.largest < NOISE:
            return "exact"
        return f"median error {percent(self.median)}, mean error {percent(self.mean)}"


class Utility(NamedTuple):
    """What analysts can still count; empty where the original is not at hand."""

    errors: Mapping[str, CountErrors] = {}  # by "singles", "pairs", "triples"
    within_10: float | None = None  # share of the distinct items whose count is off by at most 10 %
    within_25: float | None = None
    categories: CountErrors | None = None  # counts of published categories
    purity: float | None = None  # share of a category's items that belong to its commonest top-level branch
    mixed: float | None = None  # share of generalized entries whose category spans several branches
    mixed_of_all: float | None = None  # the same entries as a share of all published ones

    @property
    def words(self) -> list[str]:
        """The figures, one clause each."""
        clauses = []
        if self.within_10 is not None and self.within_25 is not None:
            clauses.append(
                f"{percent(self.within_10)} of distinct items can be counted within 10 %, "
                f"{percent(self.within_25)} within 25 %"
            )
        clauses += [f"counts of {SIZES[size]}: {found.words}" for size, found in self.errors.items()]
        if self.categories is not None:
            clauses.append(f"counts of published categories: {self.categories.words}")
        if self.mixed:
            clauses.append(
                f"{percent(self.mixed)} of generalized entries have a category that mixes branches of the hierarchy"
            )
        return clauses

    def to_dict(self) -> dict[str, Any]:
        return {
            "countable_within_10": self.within_10,
            "countable_within_25": self.within_25,
            "count_errors": {size: found._asdict() for size, found in self.errors.items()},
            "category_count_errors": None if self.categories is None else self.categories._asdict(),
            "category_purity": self.purity,
            "mixed_categories": self.mixed,
        }


def utility_of(query_errors: Mapping[str, Any]) -> Utility:
    """The figures of ``utility.avg_re.query_errors``, each with the estimator of the smallest mean error."""
    errors = {}
    for size in SIZES:
        found = query_errors.get(size)
        if found:
            name = min(found, key=lambda estimator: found[estimator]["mean"])
            errors[size] = CountErrors(found[name]["median"], found[name]["mean"], found[name]["largest"], name)
    countable, categories = query_errors.get("countable") or {}, query_errors.get("categories")
    return Utility(
        errors,
        countable.get("within_10"),
        countable.get("within_25"),
        CountErrors(categories["median"], categories["mean"], categories["largest"]) if categories else None,
        categories.get("purity") if categories else None,
        categories.get("mixed") if categories else None,
        categories.get("mixed_of_all") if categories else None,
    )


class Unchanged(NamedTuple):
    """Entries that are published as the item they are."""

    share: float | None
    base: str  # of which entries
    broadest: int | None  # items that the broadest published label covers

    @property
    def words(self) -> str:
        """The share with its base."""
        return f"{percent(self.share)} of {self.base} are published unchanged"


def unchanged_of(facts: Facts) -> Unchanged:
    """Measured against the original where it is at hand, else among the published entries."""
    share, broadest = facts.metrics.get("exact_ratio"), facts.metrics.get("largest_set")
    base = "entries"
    if share is None and facts.shape.get("exact") is not None:
        share, base = facts.shape["exact"], "published entries"
    return Unchanged(share, base, facts.shape.get("largest_set") if broadest is None else broadest)
