"""Every algorithm by name: those of setveil, one entry each, and those of other packages.

Modules of setveil are imported only when an algorithm is asked for. Another package adds an algorithm through an entry
point of the group ``setveil.algorithms`` whose value is its class; ``Algorithm`` says what the class may declare.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

from setveil.algorithms.base import Algorithm, Option, options_of
from setveil.errors import InputError
from setveil.plugins import foreign


@dataclass(frozen=True)
class Entry:
    """What is known about an algorithm without importing it."""

    name: str
    where: str  # "package.module:Class"
    models: tuple[str, ...]  # the first algorithm listed for a model is its default, but see PORTFOLIO; (): any model
    paper: str
    # What it needs of the records: counts of given itemsets, independent parts ("shards"), or all of them in one place
    # ("local"). The first two run on Spark, the last does not: ``tests/engines/test_gaps.py`` tries each of them.
    scales: Literal["counts", "shards", "local"]
    hierarchy: Literal["required", "optional", "none"]
    release: str  # the kind of release; "" if it is not known before the run
    summary: str
    suppresses_entries: bool = False  # it may suppress single entries, not only whole items
    guessable: bool = False  # its groups are formed around those who hold something sensitive, and that shows
    is_best_on_cluster: bool = False  # of those for its model that run on Spark
    proposed: int = 0  # place among those that suggestions and comparisons try for models of PORTFOLIO; 0: not tried
    is_quick: bool = False  # however large the data, so that suggestions begin with it
    plain: Mapping[str, Any] | None = None  # options with which it leaves a given hierarchy aside; without one, no need
    variants: tuple[Mapping[str, Any], ...] = ()  # options with which suggestions try it besides the usual ones
    most_items: int | None = None  # it weighs every two items; with more it is not proposed

    def load(self) -> type[Algorithm]:
        """The algorithm's class."""
        module, _, name = self.where.partition(":")
        loaded: type[Algorithm] = getattr(import_module(module), name)
        return loaded

    @property
    def package(self) -> str:
        """The package that has it."""
        return self.where.partition(".")[0].partition(":")[0]

    def enforces(self, model: str) -> bool:
        """Whether it can be asked to meet a model; an algorithm that names no models may be tried with any."""
        return not self.models or model in self.models

    def documentation(self) -> str:
        """What its module says: the paper, the guarantee, departures."""
        return sys.modules[self.load().__module__].__doc__ or ""

    def options(self) -> list[Option]:
        """Its documented options."""
        return options_of(self.load())

    @property
    def tier(self) -> str:
        """``recommended`` (a default, or our own), ``from a paper``, or ``baseline`` (to compare with)."""
        if self.paper == BASELINE:
            return "baseline"
        is_default = any(model not in PORTFOLIO and default_for(model) is self for model in self.models)
        return "recommended" if is_default or self.paper == "own" else "from a paper"

    @property
    def needs_shard_size(self) -> bool:
        """Whether it works on independent parts only where the user gives their size."""
        return any(option.name == "shard_size" for option in self.options())


TMK08 = "Terrovitis, Mamoulis, Kalnis 2008"
LW10 = "Liu, Wang 2010"
GKT11 = "Ghinita, Kalnis, Tao 2011"
XWFY08 = "Xu, Wang, Fu, Yu 2008"
HN09 = "He, Naughton 2009"
TMK11 = "Terrovitis, Mamoulis, Kalnis 2011"
GL12 = "Gkoulalas-Divanis, Loukides 2012"
LLFH16 = "Lin, Liu, Fournier-Viger, Hong 2016"
CKRT10 = "Cao, Karras, Raïssi, Tan 2010"
LGS10 = "Loukides, Gkoulalas-Divanis, Shao 2010, 2013"
LGM11 = "Loukides, Gkoulalas-Divanis, Malin 2011"
PLGS13 = "Poulis, Loukides, Gkoulalas-Divanis, Skiadopoulos 2013"

BASELINE = "control"  # the paper of an algorithm that others are compared with

PORTFOLIO = ("km",)  # models whose default is what loses least of several algorithms: ``workflows/portfolio.py``

# fmt: off
OWN: tuple[Entry, ...] = (
    Entry("aa", "setveil.algorithms.km.aa:AA",
          ("km",), TMK08, "counts", "required", "recoding",
          "apriori anonymization: itemsets of size 1, 2, … m in turn", proposed=4, is_quick=True),
    Entry("da", "setveil.algorithms.km.da:DA",
          ("km",), TMK08, "local", "required", "recoding",
          "direct anonymization: itemsets of all sizes in one pass"),
    Entry("oa", "setveil.algorithms.km.oa:OA",
          ("km",), TMK08, "local", "required", "recoding",
          "optimal anonymization: every cut of a small hierarchy"),
    Entry("hghs", "setveil.algorithms.km.hghs:HgHs",
          ("km",), LW10, "local", "required", "recoding",
          "generalization from the root down, with suppression"),
    Entry("mhghs", "setveil.algorithms.km.hghs:MHgHs",
          ("km",), LW10, "local", "required", "recoding",
          "hghs for itemsets of size 1, 2, … m in turn"),
    Entry("aa+refine", "setveil.algorithms.km.aa_refine:AARefine",
          ("km",), TMK08, "counts", "required", "recoding",
          "aa, then nodes are replaced by their children wherever that is safe", is_best_on_cluster=True, proposed=3),
    Entry("mhghs+refine", "setveil.algorithms.km.mhghs_refine:MHgHsRefine",
          ("km",), LW10, "local", "required", "recoding",
          "mhghs, then nodes are replaced by their children and items restored wherever that is safe", proposed=2),
    Entry("optimal", "setveil.algorithms.km.optimal:Optimal",
          ("km",), f"{TMK08}; {LW10}", "counts", "required", "recoding",
          "the proven lowest loss of all cuts, with or without suppression, by integer programming"),
    Entry("blocks", "setveil.algorithms.degree.blocks:BlocksOfRecords",
          ("degree",), "own", "local", "none", "grouping",
          "groups made from public items alone, joined by rules under which all members are equally likely"),
    Entry("nn+", "setveil.algorithms.degree.nn_plus:NNPlus",
          ("degree",), GKT11, "local", "none", "grouping",
          "partners chosen to lower the error of counting queries", guessable=True),
    Entry("cahd", "setveil.algorithms.degree.cahd:CAHD",
          ("degree",), GKT11, "shards", "none", "grouping",
          "groups of records that are close in an ordering", guessable=True),
    Entry("nn", "setveil.algorithms.degree.nn:NN",
          ("degree",), GKT11, "local", "none", "grouping",
          "nearest neighbours of each record with a sensitive item, exact search", guessable=True),
    Entry("lsh", "setveil.algorithms.degree.lsh:LSH",
          ("degree",), GKT11, "local", "none", "grouping",
          "near neighbours of each record with a sensitive item, by locality-sensitive hashing", guessable=True),
    Entry("permmondrian", "setveil.algorithms.degree.permmondrian:PermMondrian",
          ("degree",), GKT11, "local", "none", "grouping",
          "recursive splits by single items", guessable=True),
    Entry("random", "setveil.algorithms.degree.random_groups:RandomGroups",
          ("degree",), BASELINE, "local", "none", "grouping",
          "groups drawn at random"),
    Entry("mm", "setveil.algorithms.coherence.mm:MM",
          ("coherence",), XWFY08, "local", "none", "recoding",
          "suppression of items, those with the most violations per lost entry first"),
    Entry("weave", "setveil.algorithms.k_anonymity.weave:Weave",
          ("k-anonymity",), "own", "shards", "none", "replacement",
          "optimal cuts of orderings, then moves and swaps between classes"),
    Entry("pta", "setveil.algorithms.k_anonymity.pta:PTA",
          ("k-anonymity",), LLFH16, "shards", "none", "replacement",
          "majority votes along the shortest loops"),
    Entry("gray-tsp", "setveil.algorithms.k_anonymity.gray_tsp:GrayTSP",
          ("k-anonymity",), "Xue, Karras, Raïssi, Vaidya, Tan 2012", "local", "none", "replacement",
          "runs of k along tours found by a genetic search"),
    Entry("gsc", "setveil.algorithms.k_anonymity.gsc:GSC",
          ("k-anonymity",), "Wang, Tsai, Kao, Hong 2014", "local", "none", "replacement",
          "runs of k in Gray order"),
    Entry("lg", "setveil.algorithms.k_anonymity.lg:LG",
          ("k-anonymity",), HN09, "local", "required", "local-recoding",
          "local generalization from the root down", suppresses_entries=True),
    Entry("trim", "setveil.algorithms.km.trim:Trim",
          ("km",), "own", "local", "optional", "local-recoding",
          "single entries suppressed, or generalized in a hierarchy, as few as possible; all others are unchanged",
          suppresses_entries=True, proposed=1, is_quick=True, plain={"raising": "none"}),
    Entry("lra", "setveil.algorithms.km.lra:LRA",
          ("km",), TMK11, "local", "required", "local-recoding",
          "aa on parts of similar records, each part separately"),
    Entry("vpa", "setveil.algorithms.km.vpa:VPA",
          ("km",), TMK11, "local", "required", "recoding",
          "aa on parts of the domain, then on all of it"),
    Entry("pcta+", "setveil.algorithms.constraints.pcta_plus:PCTAPlus",
          ("constraints", "km"), f"{LGM11}; {GL12}", "local", "optional", "recoding",
          "coat, then single items moved wherever that lowers the loss", proposed=5, most_items=4_000),
    Entry("pcta", "setveil.algorithms.constraints.pcta:PCTA",
          ("constraints", "km"), GL12, "local", "optional", "recoding",
          "items generalized to sets, cheapest merge first"),
    Entry("upcta", "setveil.algorithms.constraints.upcta:UPCTA",
          ("constraints", "km"), GL12, "local", "optional", "recoding",
          "pcta inside utility groups, with suppression as the last resort"),
    Entry("coat", "setveil.algorithms.constraints.coat:COAT",
          ("constraints", "km"), LGM11, "local", "optional", "recoding",
          "the rarest item of a constraint merged with its cheapest partner"),
    Entry("pluck", "setveil.algorithms.uncertainty.pluck:Pluck",
          ("uncertainty",), "own", "local", "none", "local-recoding",
          "single entries of sensitive items suppressed, as few as possible, with a proven bound",
          suppresses_entries=True),
    Entry("suppresscontrol", "setveil.algorithms.uncertainty.suppresscontrol:SuppressControl",
          ("uncertainty",), CKRT10, "local", "none", "recoding",
          "the item in most violated rules per entry suppressed everywhere, small rules first"),
    Entry("tdcontrol", "setveil.algorithms.uncertainty.tdcontrol:TDControl",
          ("uncertainty",), CKRT10, "local", "required", "recoding",
          "public items generalized from the root down, with suppresscontrol inside"),
    Entry("optimal-suppression", "setveil.algorithms.uncertainty.optimal_suppression:OptimalSuppression",
          ("uncertainty",), CKRT10, "local", "none", "recoding",
          "the proven fewest entries lost by suppressing whole items, by integer programming"),
    Entry("prune", "setveil.algorithms.rules.prune:Prune",
          ("rules",), "own", "local", "none", "local-recoding",
          "single entries of public and sensitive items suppressed until every rule is met; all others unchanged",
          suppresses_entries=True),
    Entry("regroup", "setveil.algorithms.rules.regroup:Regroup",
          ("rules",), "own", "local", "none", "local-recoding",
          "public items merged until every rule is met and regrouped where that loses less; few entries suppressed",
          suppresses_entries=True),
    Entry("rbat", "setveil.algorithms.rules.rbat:RBAT",
          ("rules",), LGS10, "local", "none", "recoding",
          "all public items as one category, split from the top down while every rule is met"),
    Entry("classes", "setveil.algorithms.kkm.classes:Classes",
          ("kkm",), "own", "local", "optional", "local-recoding",
          "people split along the columns' hierarchies while columns gain more than items lose",
          suppresses_entries=True, variants=({"prefer": "columns"}, {"prefer": "items"})),
    Entry("rmerge", "setveil.algorithms.kkm.merging:RMerge",
          ("kkm",), PLGS13, "local", "optional", "local-recoding",
          "clusters of people merged with the one that is best for the loss of columns, up to a bound",
          suppresses_entries=True),
    Entry("tmerge", "setveil.algorithms.kkm.merging:TMerge",
          ("kkm",), PLGS13, "local", "optional", "local-recoding",
          "clusters of people merged with the one that is best for the loss of items, up to a bound",
          suppresses_entries=True),
    Entry("rtmerge", "setveil.algorithms.kkm.merging:RTMerge",
          ("kkm",), PLGS13, "local", "optional", "local-recoding",
          "clusters of people merged with the one that is best for both losses, up to a bound",
          suppresses_entries=True),
    Entry("tally", "setveil.algorithms.counts.tally:Tally",
          ("counts",), "own", "local", "none", "count-table",
          "rounded counts of itemsets, and records made from these counts alone"),
)
# fmt: on


def entry_of(kind: type[Algorithm]) -> Entry:
    """The entry of an algorithm that is given as a class."""
    known = next((entry for entry in OWN if entry.where == f"{kind.__module__}:{kind.__qualname__}"), None)
    return known or Entry(
        kind.name or kind.__name__.lower(),
        f"{kind.__module__}:{kind.__qualname__}",
        kind.models,
        kind.paper,
        kind.scales,
        kind.hierarchy,
        kind.release,
        kind.summary or (kind.__doc__ or "").strip().partition("\n")[0].rstrip("."),
        suppresses_entries=True,  # nothing is known of it
    )


ENTRIES: tuple[Entry, ...] = (*OWN, *map(entry_of, foreign("algorithms")))


def find(name: str, model: str = "") -> Entry:
    """The entry of an algorithm; an error names those of ``model``, or says where all are listed."""
    for entry in ENTRIES:
        if entry.name == name:
            return entry
    known = ", ".join(entry.name for entry in ENTRIES if entry.enforces(model))
    advice = f'those for model "{model}" are {known}.' if known else "`setveil algorithms` lists them."
    raise InputError(f'unknown algorithm "{name}"; {advice}')


def find_for(model: str, name: str) -> Entry:
    """The entry of an algorithm that is to enforce a model."""
    entry = find(name, model)
    if not entry.enforces(model):
        raise InputError(f'algorithm "{name}" does not support model "{model}"; it supports {", ".join(entry.models)}.')
    return entry


def may_suppress_entries(name: str) -> bool:
    """Whether an algorithm may suppress single entries; of one that is not listed nothing is known."""
    return all(entry.suppresses_entries for entry in ENTRIES if entry.name == name)


def default_for(model: str) -> Entry:
    """The algorithm used for a model when none is named; for models of ``PORTFOLIO`` there is no such algorithm."""
    assert model not in PORTFOLIO, "several algorithms run: workflows/portfolio.py"
    for entry in ENTRIES:
        if entry.enforces(model):
            return entry
    raise InputError(f'no algorithm enforces model "{model}" yet.')


def scaling_for(model: str) -> list[Entry]:
    """The algorithms for a model that do not need all records in one place, in the order of the registry."""
    return [entry for entry in ENTRIES if model in entry.models and entry.scales != "local"]


def proposed_for(model: str) -> list[Entry]:
    """The algorithms that suggestions and comparisons try for a model, those that keep most entries first."""
    if model not in PORTFOLIO:
        return [default_for(model)]
    tried = [entry for entry in ENTRIES if entry.proposed and entry.enforces(model)]
    return sorted(tried, key=lambda entry: entry.proposed)


def by_kind(model: str) -> dict[str, list[str]]:
    """The algorithms that enforce a model, by the kind of release they make."""
    names: dict[str, list[str]] = {}
    for entry in ENTRIES:
        if entry.enforces(model):
            names.setdefault(entry.release, []).append(entry.name)
    return names
