"""PCTA, UPCTA, COAT and Pgen, straight from the definitions: frozensets, Fractions, and a look at every record each
time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations

from setveil.core.vocabulary import ascending

Cluster = frozenset[str]
Image = tuple[Cluster, ...]  # the clusters a constraint now consists of, by smallest member


class Infeasible(Exception):
    """More would have to be suppressed than allowed, or nothing can help."""


@dataclass
class Clustering:
    """The records, and which items are published as one."""

    records: list[frozenset[str]]
    k: int
    groups: list[frozenset[str]] = field(default_factory=list)  # none: every item may join every other
    max_suppressed: float = 100.0
    criterion: str = "ul"
    who: str = "all"  # "all": every item of the constraint may be merged (PCTA); "rarest": only the rarest (COAT)
    weights: Mapping[str, Fraction] = field(default_factory=dict)
    penalty: Mapping[str, Fraction] = field(default_factory=dict)
    branch: Mapping[str, str] = field(default_factory=dict)  # of a hierarchy: merges across branches come last

    def __post_init__(self) -> None:
        items = ascending(set().union(*self.records))
        self.rank = {item: number for number, item in enumerate(items)}
        self.clusters: list[Cluster] = [frozenset({item}) for item in items]
        self.suppressed: set[str] = set()
        self.log: list[str] = []
        self.is_last_resort = False

    # -- looking ---------------------------------------------------------------------------------------------------

    def first(self, cluster: Cluster) -> int:
        return min(self.rank[item] for item in cluster)

    def image(self, constraint: Iterable[str]) -> Image:
        """Suppressed items leave; a stranger keeps a cluster of its own, which no record has."""
        found = {
            next((cluster for cluster in self.clusters if item in cluster), frozenset({item}))
            for item in constraint
            if item not in self.suppressed
        }
        return tuple(sorted(found, key=lambda cluster: min(self.rank.get(item, -1) for item in cluster)))

    def support(self, image: Iterable[Cluster]) -> int:
        clusters = list(image)
        return sum(1 for record in self.records if all(record & cluster for cluster in clusters))

    def is_violated(self, image: Image) -> bool:
        return len(image) > 0 and 0 < self.support(image) < self.k

    def weight(self, cluster: Cluster) -> Fraction:
        return max(self.weights.get(item, Fraction(1)) for item in cluster)

    def loss(self, cluster: Cluster) -> Fraction:
        """UL without its constant factors, or the mass."""
        value = len(cluster) if self.criterion == "delta-mass" else 2 ** len(cluster) - 1
        return value * self.support([cluster]) * self.weight(cluster)

    def cost(self, left: Cluster, right: Cluster) -> Fraction:
        grown = self.loss(left | right)
        return grown if self.criterion == "ul" else grown - self.loss(left) - self.loss(right)

    def partners(self, cluster: Cluster) -> list[Cluster]:
        if self.branch:
            others = [other for other in self.clusters if other != cluster]
            return others if self.is_last_resort else [one for one in others if self.home(one) == self.home(cluster)]
        allowed = [group for group in self.groups if cluster <= group]
        return [
            other
            for other in self.clusters
            if other != cluster and (not self.groups or any(other <= group for group in allowed))
        ]

    def home(self, cluster: Cluster) -> str:
        """The branch of a cluster; clusters of several branches are among themselves."""
        found = {self.branch[item] for item in cluster}
        return found.pop() if len(found) == 1 else "mixed"

    # -- changing --------------------------------------------------------------------------------------------------

    def protect(self, image: Image) -> None:
        while self.is_violated(image):
            self.is_last_resort = False
            self.is_last_resort = bool(self.branch) and not any(self.partners(cluster) for cluster in image)
            movable = [cluster for cluster in image if self.partners(cluster)]
            if self.who == "rarest" and movable:
                movable = [min(movable, key=lambda cluster: (self.support([cluster]), self.first(cluster)))]
            if movable:
                _, _, _, left, right = min(
                    (self.cost(one, other), self.first(one), self.first(other), one, other)
                    for one in movable
                    for other in self.partners(one)
                )
                merged = left | right
                self.clusters = [cluster for cluster in self.clusters if cluster not in (left, right)] + [merged]
                self.log.append("".join(sorted(merged)))
                image = self.image(item for cluster in image for item in cluster)
            else:
                gone = min(
                    image, key=lambda cluster: (self.toll(cluster), self.support([cluster]), self.first(cluster))
                )
                self.clusters.remove(gone)
                self.suppressed |= gone
                self.log.append("-" + "".join(sorted(gone)))
                if len(self.suppressed) * 100 > self.max_suppressed * len(self.rank):
                    raise Infeasible(self.log)
                image = tuple(cluster for cluster in image if cluster != gone)

    def toll(self, cluster: Cluster) -> Fraction:
        return sum((self.penalty.get(item, Fraction(0)) for item in cluster), Fraction(0))

    def enforce(self, constraints: Sequence[Iterable[str]], order: str = "dynamic") -> None:
        if order == "static":
            queue = [self.image(constraint) for constraint in constraints]
            queue.sort(key=lambda image: (-self.support(image), len(image), self.ranks(image)))
            members = [[item for cluster in image for item in cluster] for image in queue]
            while any(self.is_violated(self.image(constraint)) for constraint in members):
                for constraint in members:
                    self.protect(self.image(constraint))
            return
        while True:
            images = {self.image(constraint) for constraint in constraints}
            open_images = [image for image in images if self.is_violated(image)]
            if not open_images:
                return
            self.protect(min(open_images, key=lambda image: (-self.support(image), len(image), self.ranks(image))))

    def ranks(self, image: Image) -> tuple[int, ...]:
        return tuple(min(self.rank.get(item, -1) for item in cluster) for cluster in image)

    def enforce_km(self, m: int, order: str = "dynamic") -> None:
        """Sizes 1 and 2 in one queue, then 3, 4, … each over what is then published."""
        self.enforce(occurring(self.records, min(m, 2)), order)
        for size in range(3, m + 1):
            published = [
                {min(cluster) for cluster in self.clusters if cluster & record} for record in self.records
            ]  # any member names its cluster
            self.enforce([itemset for itemset in occurring(published, size) if len(itemset) == size], order)

    def partition(self) -> set[Cluster]:
        return set(self.clusters)


def occurring(records: Iterable[Iterable[str]], m: int) -> list[tuple[str, ...]]:
    """Every itemset of 1 … m items that some record has."""
    return sorted(
        {itemset for record in records for size in range(1, m + 1) for itemset in combinations(sorted(record), size)}
    )


def pgen(records: Sequence[frozenset[str]], k: int) -> set[frozenset[str]]:
    """Distinct records with support below k that are not part of another such record."""
    rare = {row for row in records if row and sum(1 for other in records if row <= other) < k}
    return {row for row in rare if not any(row < other for other in rare)}


def log2_ul(clustering: Clustering) -> float:
    """log2 of the utility loss of the clusters (Definition 2, without penalties)."""
    n_items, n_records = len(clustering.rank), len(clustering.records)
    total = sum((2 ** len(c) - 1) * clustering.support([c]) for c in clustering.clusters)
    return log2(Fraction(total, (2**n_items - 1) * n_records))


def log2(value: Fraction) -> float:
    from math import log2 as float_log2

    shift = value.numerator.bit_length() - value.denominator.bit_length()
    scaled = value / 2**shift if shift >= 0 else value * 2**-shift
    return float_log2(float(scaled)) + shift
