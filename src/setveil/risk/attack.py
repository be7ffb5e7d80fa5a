"""Attacks on a release, carried out: how often somebody who knows a few items of a person succeeds.

A *target* is a random person of the original with at least c public items. The attacker knows c of them, has the
published data and the codebook, and looks for the records that fit: the *candidates*. What is known is chosen in four
ways:

- ``random``: any c items;
- ``rarest``: the c items that the fewest people have; ``frequent``: the c items that most have;
- ``wrong``: any c items, each of them false with a probability (one in five unless told otherwise) and then replaced by
  an item that the target does not have, drawn by frequency.

An item may stand for a published one (recoding), for one of several (local recoding), for itself (replacement,
grouping). A known item that is published nowhere is of no use. Measured, over the targets:

- *claimed*: there is exactly one candidate; *singled out*: and it is the target's record;
- *found*: the target's record is among the candidates; *linked*: the chance of picking it, 1/candidates if found, else
  0;
- *inferred*: how likely one of the target's sensitive items looks, its share among the candidates (a published item
  that stands for g items counts 1/g, a grouping by its counts); *certain*: it looks certain. Only over targets that
  have a sensitive item; sensitive items are never known beforehand.

``before`` is the same attack on the original. ``control`` is the attack on people who are not in the published data. By
default these are the targets themselves with their own record taken out of it (and out of its group's counts): what
remains is what the attacker would conclude anyway, and what exceeds it is due to the target's record being there. The
release is not made anew without them, so this is an approximation. Real people who were held out can be given instead.

Figures are means over independently drawn targets, with 95 % intervals.

A grouping hides who of a group holds a sensitive item, but its groups were formed around those who do. So one more
attacker is tried on it, who knows nobody and picks a record of a group by its looks, in thirteen ways
(``guesses.py``). Where single entries were left out, two more attackers look for what that gives away
(``trimmed.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.arrays.sampling import draw_subsets
from setveil.core import Itemsets, Transactions
from setveil.core.progress import Progress, no_progress
from setveil.errors import InputError
from setveil.models.parameters import whole_number
from setveil.releases import Grouping, Release, Replacement
from setveil.risk.guesses import GuessTable, guess_both
from setveil.risk.intervals import Rate, rate_of
from setveil.risk.surface import Outcomes, Surface
from setveil.risk.trimmed import LeftOutTable, attack_left_out

STRATEGIES = ("random", "rarest", "frequent", "wrong")

_CERTAIN = 1 - 1e-9
_TRIES = 20  # draws of a wrong item that the target does not have


@dataclass(frozen=True)
class Success:
    """How an attack went; ``None`` where a figure does not apply."""

    claimed: Rate
    singled_out: Rate | None
    found: Rate | None
    linked: Rate | None
    inferred: Rate | None
    certain: Rate | None


@dataclass(frozen=True)
class AttackRow:
    """One way of knowing, one number of known items."""

    strategy: str
    known: int
    n_targets: int
    n_secrets: int  # targets with a sensitive item
    before: Success
    after: Success
    control: Success | None


@dataclass(frozen=True, repr=False)
class AttackTable:
    """All attacks on a release."""

    rows: tuple[AttackRow, ...]
    n_sensitive: int
    control: str  # how the control group came about
    seed: int
    notes: tuple[str, ...] = ()
    guesses: GuessTable | None = None  # groupings only
    left_out: LeftOutTable | None = None  # where single entries were left out

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON; a rate is [value, low, high]."""
        plain = asdict(replace(self, guesses=None))
        return {**plain, "guesses": None if self.guesses is None else self.guesses.to_dict()}

    def __str__(self) -> str:
        lines = [f"{'knows':<10}{'items':>6}{'singled out':>24}{'linked':>24}{'inferred':>24}{'control':>10}"]
        for row in self.rows:
            cells = [
                f"{_percent(getattr(row.before, name)):>10} → {_percent(getattr(row.after, name)):>10}"
                for name in ("singled_out", "linked", "inferred")
            ]
            text = "".join(f"{cell:>24}" for cell in cells)
            lines.append(
                f"{row.strategy:<10}{row.known:>6}{text}{_percent(row.control.inferred if row.control else None):>10}"
            )
        return "\n".join(lines)

    __repr__ = __str__


def attack(
    original: Transactions,
    release: Release,
    known: Iterable[int] = (1, 2, 3, 4),
    targets: int = 10_000,
    seed: int = 0,
    *,
    strategies: Iterable[str] = STRATEGIES,
    sensitive: Iterable[str] | None = None,
    control: Transactions | None = None,
    wrong: float = 0.2,
    aligned: bool = True,
    guess: bool = True,
    remake: Callable[[Transactions], Any] | None = None,
    promised: float | None = None,
    progress: Progress = no_progress,
) -> AttackTable:
    """Attack a release of ``original`` in every way asked for.

    ``sensitive``: the items to infer; those of the release unless given. ``control``: people who are not in the data.
    ``aligned=False``: the release is not in the order of the original, so nobody can tell whether a record is the right
    one: *singled out*, *found*, *linked*, the default control and guesses are left out. ``remake``: makes the release
    of other data in the same way, for guessers who know the program; ``promised``: what they are told they will not
    exceed.
    """
    if isinstance(release, Grouping) and release.published.n_records < original.n_records:
        original = original.select(Grouping.publishable(original, release.sensitive))
    sizes, ways = _check(original, release, known, targets, strategies, wrong)
    secrets = _secret_items(original, release, sensitive)
    people = _People.of(original, secrets)
    held_out = None if control is None else _People.of(_over(control, original), secrets)
    surfaces = (
        Surface.of_original(original, secrets),
        Surface.of_release(release, original.vocabulary, secrets),
    )
    rows: list[AttackRow] = []
    notes: list[str] = []
    for size in sizes:
        random = np.random.default_rng((seed, size))
        if not people.can_be_known(size) or (held_out is not None and not held_out.can_be_known(size)):
            notes.append(f"nobody has {size} public items or more")
            continue
        group = people.draw(size, targets, random)
        strangers = None if held_out is None else held_out.draw(size, targets, random)
        for way in ways:
            progress(f"attacking with {size} known items", len(rows) / (len(sizes) * len(ways)))
            learned = people.known(way, size, group, wrong, random)
            before, after = (surface.search(learned, *group) for surface in surfaces)
            missed: Success | None
            if held_out is not None and strangers is not None:
                learned = held_out.known(way, size, strangers, wrong, random)
                elsewhere = surfaces[1].search(learned, np.zeros(targets, dtype=np.int64), strangers.secrets)
                missed = _stranger(elsewhere)
            else:
                missed = _without_own(after) if aligned else None
            rows.append(
                AttackRow(
                    strategy=way,
                    known=size,
                    n_targets=targets,
                    n_secrets=int((group.secrets >= 0).sum()),
                    before=_success(before, True),
                    after=_success(after, aligned),
                    control=missed,
                )
            )
    how = "the targets without their own record" if control is None else f"{control.n_records:,} people held out"
    guesses = None
    if guess and aligned and isinstance(release, Grouping):
        guesses = guess_both(original, release, promised, remake, seed)
    left_out = attack_left_out(original, release, targets, seed, promised, remake) if guess and aligned else None
    return AttackTable(tuple(rows), len(secrets), how, seed, tuple(notes), guesses, left_out)


def _check(
    original: Transactions,
    release: Release,
    known: Iterable[int],
    targets: int,
    strategies: Iterable[str],
    wrong: float,
) -> tuple[list[int], list[str]]:
    sizes = sorted({whole_number(size, "known") for size in known})
    whole_number(targets, "targets")
    ways = list(dict.fromkeys(strategies))
    for way in ways:
        if way not in STRATEGIES:
            raise InputError(f'unknown strategy "{way}"; choose from {", ".join(STRATEGIES)}.')
    if not 0 <= wrong <= 1:
        raise InputError(f"wrong is a probability from 0 to 1, not {wrong}.")
    if release.published.n_records != original.n_records:
        raise InputError(
            f"the release has {release.published.n_records:,} records and the original {original.n_records:,}; "
            "attack a release with the data it was made from."
        )
    return sizes, ways


def _secret_items(original: Transactions, release: Release, sensitive: Iterable[str] | None) -> NDArray[np.int32]:
    """Numbers of the sensitive items that occur in the original, ascending."""
    if sensitive is None:
        if isinstance(release, Grouping | Replacement):
            sensitive = release.sensitive
        else:
            sensitive = getattr(release.record.model, "sensitive", ()) if release.record else ()
    numbers = original.vocabulary.numbers(set(sensitive))
    return np.sort(numbers[numbers >= 0])


def _over(control: Transactions, original: Transactions) -> Transactions:
    """The control group over the original's vocabulary; items that the original never had cannot be looked up."""
    return control.recode(original.vocabulary.numbers(control.vocabulary), original.vocabulary)


# -- what is known ----------------------------------------------------------------------------------------------------


class _Group(NamedTuple):
    """Drawn targets."""

    records: NDArray[np.int64]
    secrets: NDArray[np.int64]  # which secret is asked for, -1 if the target has none


@dataclass(frozen=True, eq=False)
class _People:
    """People with their items; those of drawn people are looked at from the rarest public one to the most frequent."""

    data: Transactions
    rank: NDArray[np.int32]  # [items] the rarest first; -1 for secrets
    private: Transactions  # over secrets
    n_public: NDArray[np.int64]  # [people] public items

    @classmethod
    def of(cls, data: Transactions, secrets: NDArray[np.int32]) -> _People:
        rank = np.empty(data.n_items, dtype=np.int32)
        rank[np.argsort(data.supports, kind="stable")] = np.arange(data.n_items)
        rank[secrets] = -1
        number = np.full(data.n_items, -1, dtype=np.int32)
        number[secrets] = np.arange(len(secrets))
        nothing = Transactions(np.zeros_like(data.indptr), data.items[:0], data.vocabulary)
        private = data.recode(number, data.vocabulary) if len(secrets) else nothing
        return cls(data, rank, private, data.lengths - private.lengths)

    def can_be_known(self, size: int) -> bool:
        return bool((self.n_public >= size).any())

    def draw(self, size: int, n: int, random: np.random.Generator) -> _Group:
        """Targets with at least that many public items, and one of the secrets of each that has some."""
        records = random.choice(np.flatnonzero(self.n_public >= size), n)
        n_secrets = self.private.lengths[records]
        chosen = self.private.indptr[records] + random.integers(0, np.maximum(n_secrets, 1))
        secrets = np.full(n, -1, dtype=np.int64)
        secrets[n_secrets > 0] = self.private.items[chosen[n_secrets > 0]]
        return _Group(records, secrets)

    def known(self, way: str, size: int, group: _Group, wrong: float, random: np.random.Generator) -> Itemsets:
        """What the attacker knows of each target."""
        lengths = self.n_public[group.records]
        if way == "rarest":
            positions = np.broadcast_to(np.arange(size), (len(lengths), size))
        elif way == "frequent":
            positions = lengths[:, None] - 1 - np.arange(size)
        else:
            positions = draw_subsets(lengths, size, random)
        items = self._items_at(group.records, positions)
        if way == "wrong":
            items = self._with_errors(items, group.records, wrong, random)
        items = np.sort(items, axis=1)
        is_new = np.ones(items.shape, dtype=bool)
        is_new[:, 1:] = items[:, 1:] != items[:, :-1]
        indptr = np.concatenate(([0], np.cumsum(is_new.sum(axis=1)))).astype(np.int64)
        return Itemsets(indptr, items[is_new], self.data.vocabulary)

    def _items_at(self, records: NDArray[np.int64], positions: NDArray[np.int64]) -> NDArray[np.int32]:
        """The public items at some positions of each record, counted from the rarest."""
        public = self.data.select(records).recode(self.rank, self.data.vocabulary)
        item_of_rank = np.argsort(self.data.supports, kind="stable").astype(np.int32)
        items: NDArray[np.int32] = item_of_rank[public.items[public.indptr[:-1][:, None] + positions]]
        return items

    def _with_errors(
        self, items: NDArray[np.int32], records: NDArray[np.int64], wrong: float, random: np.random.Generator
    ) -> NDArray[np.int32]:
        """Replace some items by others that the target does not have; where none is found the item stays."""
        width = self.data.n_items
        own = self.data.select(records)
        keys = own.owners * width + own.items  # ascending
        n_public = np.cumsum(self.n_public)
        items = items.copy()
        owners = np.broadcast_to(np.arange(len(records))[:, None], items.shape)
        pending = random.random(items.shape) < wrong
        for _ in range(_TRIES):
            n_pending = int(pending.sum())
            if not n_pending:
                break
            entries = random.integers(0, int(n_public[-1]), n_pending)  # so that an item is drawn by its frequency
            holders = np.searchsorted(n_public, entries, side="right")
            drawn = self._items_at(holders, (entries - n_public[holders] + self.n_public[holders])[:, None])[:, 0]
            wanted = owners[pending] * width + drawn
            is_false = keys[np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)] != wanted
            settled = np.zeros_like(pending)
            settled[pending] = is_false
            items[settled] = drawn[is_false]
            pending &= ~settled
        return items


# -- how it went ------------------------------------------------------------------------------------------------------


def _success(outcomes: Outcomes, aligned: bool) -> Success:
    alone = outcomes.n_candidates == 1
    found = outcomes.is_found
    return Success(
        claimed=rate_of(alone),
        singled_out=rate_of(alone & found) if aligned else None,
        found=rate_of(found) if aligned else None,
        linked=rate_of(found / np.maximum(outcomes.n_candidates, 1)) if aligned else None,
        **_inferred(outcomes.posterior),
    )


def _without_own(outcomes: Outcomes) -> Success:
    """The same targets without their own records."""
    return Success(rate_of(outcomes.n_others == 1), None, None, None, **_inferred(outcomes.control))


def _stranger(outcomes: Outcomes) -> Success:
    """People who are not in the data: no record is theirs."""
    return Success(rate_of(outcomes.n_candidates == 1), None, None, None, **_inferred(outcomes.posterior))


def _inferred(posterior: NDArray[np.float64]) -> dict[str, Rate | None]:
    asked = posterior[~np.isnan(posterior)]
    if not len(asked):
        return {"inferred": None, "certain": None}
    return {"inferred": rate_of(asked), "certain": rate_of(asked >= _CERTAIN)}


def _percent(rate: Rate | None) -> str:
    return "–" if rate is None else f"{100 * rate.value:.2f} %"
