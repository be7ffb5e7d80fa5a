"""Every algorithm by name, one line each. Modules are imported only when an algorithm is asked for."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib import import_module
from typing import Literal

from setveil.algorithms.base import Algorithm, Option, options_of
from setveil.errors import InputError


@dataclass(frozen=True)
class Entry:
    """What is known about an algorithm without importing it."""

    name: str
    where: str  # "module:Class" below setveil.algorithms
    models: tuple[str, ...]  # the first algorithm listed for a model is its default, but see PORTFOLIO
    paper: str
    # What it needs of the records: counts of given itemsets, independent parts ("shards"), or all of them in one place
    # ("local"). The first two run on Spark, the last does not: ``tests/engines/test_gaps.py`` tries each of them.
    scales: Literal["counts", "shards", "local"]
    hierarchy: Literal["required", "optional", "none"]
    release: Literal["recoding", "local-recoding", "replacement", "grouping"]
    summary: str
    leaves_out: bool = False  # it may leave out single entries, not only whole items
    guessable: bool = False  # its groups are formed around those who hold something sensitive, and that shows

    def load(self) -> type[Algorithm]:
        """The algorithm's class."""
        module, _, name = self.where.partition(":")
        loaded: type[Algorithm] = getattr(import_module(f"setveil.algorithms.{module}"), name)
        return loaded

    def documentation(self) -> str:
        """What its module says: the paper, the guarantee, departures."""
        return sys.modules[self.load().__module__].__doc__ or ""

    def options(self) -> list[Option]:
        """Its documented options."""
        return options_of(self.load())

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
LGM11 = "Loukides, Gkoulalas-Divanis, Malin 2011"

PORTFOLIO = ("km",)  # models whose default is what loses least of several algorithms: ``workflows/portfolio.py``

ENTRIES: tuple[Entry, ...] = (
    Entry(
        "aa",
        "km.aa:AA",
        ("km",),
        TMK08,
        "counts",
        "required",
        "recoding",
        "apriori anonymization: itemsets of size 1, 2, … m in turn",
    ),
    Entry(
        "da",
        "km.da:DA",
        ("km",),
        TMK08,
        "local",
        "required",
        "recoding",
        "direct anonymization: itemsets of all sizes in one pass",
    ),
    Entry(
        "oa",
        "km.oa:OA",
        ("km",),
        TMK08,
        "local",
        "required",
        "recoding",
        "optimal anonymization: every cut of a small hierarchy",
    ),
    Entry(
        "hghs",
        "km.hghs:HgHs",
        ("km",),
        LW10,
        "local",
        "required",
        "recoding",
        "generalization from the root down, with suppression",
    ),
    Entry(
        "mhghs",
        "km.hghs:MHgHs",
        ("km",),
        LW10,
        "local",
        "required",
        "recoding",
        "hghs for itemsets of size 1, 2, … m in turn",
    ),
    Entry(
        "aa+refine",
        "km.aa_refine:AARefine",
        ("km",),
        TMK08,
        "counts",
        "required",
        "recoding",
        "aa, then back down wherever that is safe",
    ),
    Entry(
        "mhghs+refine",
        "km.mhghs_refine:MHgHsRefine",
        ("km",),
        LW10,
        "local",
        "required",
        "recoding",
        "mhghs, then back down, publishing what need not be suppressed",
    ),
    Entry(
        "optimal",
        "km.optimal:Optimal",
        ("km",),
        f"{TMK08}; {LW10}",
        "counts",
        "required",
        "recoding",
        "the proven least loss of all cuts, with or without suppression, by integer programming",
    ),
    Entry(
        "blocks",
        "degree.blocks:BlocksOfRecords",
        ("degree",),
        "own",
        "local",
        "none",
        "grouping",
        "groups from public items alone, joined by rules that treat members alike",
    ),
    Entry(
        "nn+",
        "degree.nn_plus:NNPlus",
        ("degree",),
        GKT11,
        "local",
        "none",
        "grouping",
        "partners chosen by what the answers need",
        guessable=True,
    ),
    Entry(
        "cahd",
        "degree.cahd:CAHD",
        ("degree",),
        GKT11,
        "shards",
        "none",
        "grouping",
        "groups of records close together in an ordering",
        guessable=True,
    ),
    Entry(
        "nn",
        "degree.nn:NN",
        ("degree",),
        GKT11,
        "local",
        "none",
        "grouping",
        "exact nearest neighbours of each sensitive record",
        guessable=True,
    ),
    Entry(
        "lsh",
        "degree.lsh:LSH",
        ("degree",),
        GKT11,
        "local",
        "none",
        "grouping",
        "near neighbours through hash tables",
        guessable=True,
    ),
    Entry(
        "permmondrian",
        "degree.permmondrian:PermMondrian",
        ("degree",),
        GKT11,
        "local",
        "none",
        "grouping",
        "splits by item after item",
        guessable=True,
    ),
    Entry(
        "random",
        "degree.random_groups:RandomGroups",
        ("degree",),
        "control",
        "local",
        "none",
        "grouping",
        "groups drawn at random",
    ),
    Entry(
        "mm",
        "coherence.mm:MM",
        ("coherence",),
        XWFY08,
        "local",
        "none",
        "recoding",
        "suppression of the items with most moles per loss",
    ),
    Entry(
        "weave",
        "k_anonymity.weave:Weave",
        ("k-anonymity",),
        "own",
        "shards",
        "none",
        "replacement",
        "optimal cuts of orderings, then moves and swaps between classes",
    ),
    Entry(
        "pta",
        "k_anonymity.pta:PTA",
        ("k-anonymity",),
        LLFH16,
        "shards",
        "none",
        "replacement",
        "majority votes along the shortest loops",
    ),
    Entry(
        "gray-tsp",
        "k_anonymity.gray_tsp:GrayTSP",
        ("k-anonymity",),
        "Xue, Karras, Raïssi, Vaidya, Tan 2012",
        "local",
        "none",
        "replacement",
        "runs of k along tours found by a genetic search",
    ),
    Entry(
        "gsc",
        "k_anonymity.gsc:GSC",
        ("k-anonymity",),
        "Wang, Tsai, Kao, Hong 2014",
        "local",
        "none",
        "replacement",
        "runs of k in Gray order",
    ),
    Entry(
        "lg",
        "k_anonymity.lg:LG",
        ("k-anonymity",),
        HN09,
        "local",
        "required",
        "local-recoding",
        "local generalization from the root down",
        leaves_out=True,
    ),
    Entry(
        "trim",
        "km.trim:Trim",
        ("km",),
        "own",
        "local",
        "optional",
        "local-recoding",
        "single entries left out, or raised in a hierarchy, as few as possible; the rest is exact",
        leaves_out=True,
    ),
    Entry(
        "lra",
        "km.lra:LRA",
        ("km",),
        TMK11,
        "local",
        "required",
        "local-recoding",
        "aa on parts of similar records, each for itself",
    ),
    Entry(
        "vpa",
        "km.vpa:VPA",
        ("km",),
        TMK11,
        "local",
        "required",
        "recoding",
        "aa on parts of the domain, then on all of it",
    ),
    Entry(
        "pcta+",
        "constraints.pcta_plus:PCTAPlus",
        ("constraints", "km"),
        f"{LGM11}; {GL12}",
        "local",
        "none",
        "recoding",
        "coat, then single items moved wherever that loses less",
    ),
    Entry(
        "pcta",
        "constraints.pcta:PCTA",
        ("constraints", "km"),
        GL12,
        "local",
        "none",
        "recoding",
        "items merged into sets, cheapest merge first",
    ),
    Entry(
        "upcta",
        "constraints.upcta:UPCTA",
        ("constraints", "km"),
        GL12,
        "local",
        "none",
        "recoding",
        "pcta inside utility groups, with suppression as the last resort",
    ),
    Entry(
        "coat",
        "constraints.coat:COAT",
        ("constraints", "km"),
        LGM11,
        "local",
        "none",
        "recoding",
        "the rarest item of a constraint merged with its cheapest partner",
    ),
)


def find(name: str) -> Entry:
    """The entry of an algorithm."""
    for entry in ENTRIES:
        if entry.name == name:
            return entry
    raise InputError(
        f'unknown algorithm "{name}"; `setveil algorithms` lists them: {", ".join(e.name for e in ENTRIES)}.'
    )


def find_for(model: str, name: str) -> Entry:
    """The entry of an algorithm that is to enforce a model."""
    entry = find(name)
    if model not in entry.models:
        raise InputError(f'algorithm "{name}" cannot enforce model "{model}"; it enforces {", ".join(entry.models)}.')
    return entry


def may_leave_out(name: str) -> bool:
    """Whether an algorithm may leave out single entries; of one that is not listed, made by hand, nobody knows."""
    return all(entry.leaves_out for entry in ENTRIES if entry.name == name)


def default_for(model: str) -> Entry:
    """The algorithm used for a model when none is named; for models of ``PORTFOLIO`` there is no such algorithm."""
    assert model not in PORTFOLIO, "several algorithms run: workflows/portfolio.py"
    for entry in ENTRIES:
        if model in entry.models:
            return entry
    raise InputError(f'no algorithm enforces model "{model}" yet.')


def scaling_for(model: str) -> list[Entry]:
    """The algorithms for a model that do not need all records in one place, in the order of the registry."""
    return [entry for entry in ENTRIES if model in entry.models and entry.scales != "local"]


def by_kind(model: str) -> dict[str, list[str]]:
    """The algorithms that enforce a model, by the kind of release they make."""
    names: dict[str, list[str]] = {}
    for entry in ENTRIES:
        if model in entry.models:
            names.setdefault(entry.release, []).append(entry.name)
    return names


def list_algorithms() -> tuple[Entry, ...]:
    """Every algorithm, in the order of the registry.

    The first one for a model is its default; for k^m-anonymity several run, and what loses least is taken.

    Returns:
        Entries with ``name``, ``models``, ``paper``, ``scales``, ``hierarchy`` and ``summary``.

    Examples:
        >>> import setveil as sv
        >>> "aa" in [entry.name for entry in sv.algorithms()]
        True
    """
    return ENTRIES
