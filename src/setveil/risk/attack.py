"""Attacks on a release, carried out: how often an attacker who knows a few items of a person succeeds.

A *target* is a random person of the original with at least c public items. The attacker knows c of them, has the
published data and the codebook, and looks for the records that fit: the *candidates*. ``attackers.py`` lists the
attackers: which items they know, which labels they use, how they match records. Where the release has known columns,
every attacker also knows those of the target, and c may be 0 (``column_classes.py``). Measured, over the targets:

- *claimed*: there is exactly one candidate; *singled out*: and it is the target's record; *wrong match*: and it is
  somebody else's;
- *found*: the target's record is among the candidates; *linked*: the chance of picking it, 1/candidates if found, else
  0;
- *right guess*: how likely one of the target's sensitive items looks, its share among the candidates (a published item
  that stands for g items counts 1/g, a grouping by its counts). Only over targets that have a sensitive item;
  sensitive items are never known beforehand. Values of sensitive columns count as sensitive items;
- *certain*, *likely*, *certain category*: what the candidates reveal about further items (``inference.py``). A best
  match is a guess, so these figures are about attackers whose candidates show every known item.

``before`` is the same attack on the original. ``control`` is the attack on people who are not in the published data. By
default these are the targets themselves with their own record taken out of it (and out of its group's counts): what
remains is what the attacker would conclude anyway, and what exceeds it is due to the target's record being there. The
release is not made anew without them, so this is an approximation. Real people who were held out can be given instead.

Figures are means over independently drawn targets, with 95 % intervals. Where there are no more people than targets,
everybody is attacked, and what is not left to chance is exact: all but wrong items, and random ones where their choices
are more than targets. Their base is the people with at least c public
items; ``of_all_people`` has the same figure as a share of everybody in the release.

A grouping hides who of a group holds a sensitive item, but its groups were formed around those who do. So one more
attacker is tried on it, who knows nobody and picks a record of a group by its looks, in thirteen ways
(``guesses.py``). Where single entries were suppressed, two more attackers look for what that gives away
(``trimmed.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from setveil.core import Transactions
from setveil.core.progress import Progress, no_progress
from setveil.errors import InputError, name_some
from setveil.models.parameters import checked_seed, known_sizes, whole_number
from setveil.releases import Release, is_grouped
from setveil.risk.attackers import ATTACKERS, Attacker, base_words, inference_base
from setveil.risk.column_classes import known_columns
from setveil.risk.guesses import GuessTable, guess_both
from setveil.risk.inference import Conclusions, Revealed
from setveil.risk.intervals import Rate
from setveil.risk.knowledge import People
from setveil.risk.secret_values import with_secret_values
from setveil.risk.surface import Outcomes, Surface
from setveil.risk.targets import Targets
from setveil.risk.trimmed import LeftOutTable, attack_left_out

STRATEGIES = tuple(ATTACKERS)
INFERRED = ("certain", "likely", "certain_category")
Mean: TypeAlias = Callable[..., Rate]  # ``Targets.rate`` of an attacker: of values, among the targets asked about
FIGURES = ("singled_out", "wrong_match", "claimed", "found", "linked", "right_guess", *INFERRED)


@dataclass(frozen=True)
class Success:
    """How an attack went; ``None`` where a figure does not apply."""

    claimed: Rate
    singled_out: Rate | None
    wrong_match: Rate | None
    found: Rate | None
    linked: Rate | None
    right_guess: Rate | None
    certain: Rate | None = None
    likely: Rate | None = None
    certain_category: Rate | None = None
    highest: float | None = None  # probability of a sensitive item, over the targets


@dataclass(frozen=True)
class AttackRow:
    """One attacker, one number of known items."""

    strategy: str
    known: int
    n_people: int  # people with at least that many public items: the base of all rates
    n_all: int  # people in the release
    n_targets: int
    n_secrets: int  # targets with a sensitive item
    n_sensitive: int  # items that are named as sensitive and occur
    before: Success
    after: Success
    control: Success | None
    columns: tuple[str, ...] = ()  # that every attacker knows

    @property
    def attacker(self) -> Attacker:
        return ATTACKERS[self.strategy]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON: each figure before, after and for the control; a rate is [value, low, high].

        ``of_all_people``: the figure after anonymization as a share of everybody in the release.
        """
        return {
            "attacker": self.strategy,
            "words": self.attacker.words(self.known, self.columns),
            "known": self.known,
            **({"known_columns": list(self.columns)} if self.columns else {}),
            "base": base_words(self.known),
            "n_people": self.n_people,
            "n_all_people": self.n_all,
            "n_targets": self.n_targets,
            "n_with_sensitive": self.n_secrets,
            **{name: self._figure(name) for name in FIGURES},
            "highest_probability": {
                "before": self.before.highest,
                "after": self.after.highest,
                "control": None if self.control is None else self.control.highest,
            },
        }

    def _figure(self, name: str) -> dict[str, Any] | None:
        after = getattr(self.after, name)
        if after is None:
            return None
        # Whoever is not in the data cannot be singled out: there every claim is a wrong match.
        same = "claimed" if name in ("singled_out", "wrong_match") else name
        control = getattr(self.control, same, None)
        if name == "linked":
            control = Rate(*[1 / self.n_all] * 3)  # a record picked blindly
        rates = {"before": getattr(self.before, name), "after": after, "control": control}
        plain: dict[str, Any] = {side: None if rate is None else list(rate) for side, rate in rates.items()}
        if name == "right_guess":  # a mean probability, about people with a sensitive item
            return plain
        if name in INFERRED:
            plain["base"] = inference_base(self.known, bool(self.n_sensitive))
        is_named = name in INFERRED and self.n_sensitive
        share = self.n_secrets / self.n_targets if is_named else 1.0  # the rest has nothing that could be inferred
        return {**plain, "of_all_people": after.value * share * self.n_people / self.n_all}


@dataclass(frozen=True, repr=False)
class AttackTable:
    """All attacks on a release."""

    rows: tuple[AttackRow, ...]
    n_sensitive: int
    control: str  # how the control group came about
    seed: int
    notes: tuple[str, ...] = ()
    guesses: GuessTable | None = None  # groupings only
    left_out: LeftOutTable | None = None  # where single entries were suppressed
    published: tuple[dict[str, Any], ...] = ()  # what labels reveal, where the model is known: see ``risk.worst``

    @property
    def worst(self) -> AttackRow | None:
        """The attack that singles out the largest share of all people; None if no attack could be judged."""
        judged = [row for row in self.rows if row.after.singled_out is not None]
        return max(judged, key=lambda row: row.to_dict()["singled_out"]["of_all_people"], default=None)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON; a rate is [value, low, high]."""
        return {
            "rows": [row.to_dict() for row in self.rows],
            "worst": None if self.worst is None else self.worst.to_dict(),
            "n_sensitive": self.n_sensitive,
            "control": self.control,
            "seed": self.seed,
            "notes": list(self.notes),
            "guesses": None if self.guesses is None else self.guesses.to_dict(),
            "left_out": None if self.left_out is None else asdict(self.left_out),
            "published": list(self.published),
        }

    def __str__(self) -> str:
        lines = [f"{'attacker':<18}{'items':>6}{'singled out':>24}{'linked':>24}{'right guess':>24}{'control':>10}"]
        for row in self.rows:
            cells = [
                f"{_percent(getattr(row.before, name)):>10} → {_percent(getattr(row.after, name)):>10}"
                for name in ("singled_out", "linked", "right_guess")
            ]
            text = "".join(f"{cell:>24}" for cell in cells)
            control = _percent(row.control.right_guess if row.control else None)
            lines.append(f"{row.strategy:<18}{row.known:>6}{text}{control:>10}")
        return "\n".join(lines)

    __repr__ = __str__


def _observable(original: Transactions, release: Release) -> NDArray[np.bool_] | None:
    """Which items an attacker can know, where the model of the release says so."""
    known = None if release.model is None else release.model.observable_items
    return None if known is None else np.array([label in known for label in original.vocabulary], dtype=bool)


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
    """Attack a release of ``original`` with every attacker asked for.

    ``strategies``: names of ``attackers.ATTACKERS``. ``sensitive``: the items to infer; those of the release unless
    given. ``control``: people who are not in the data. ``aligned=False``: the release is not in the order of the
    original, so it is unknown which record is the right one: *singled out*, *wrong match*, *found*, *linked*, the
    default control and guesses are not reported. ``remake``: makes the release of other data in the same way, for
    attackers who know the program; the argument after it is the largest probability that the guarantee allows them.
    """
    original = release.published_part(original)
    whole = original, release
    original, release, values = with_secret_values(original, release)
    if values:
        sensitive = [*(release.sensitive_items if sensitive is None else sensitive), *values]
    sizes, attackers = _check(original, release, known, targets, seed, strategies, wrong)
    columns = known_columns(release.rows.columns).names
    if columns:
        _require_columns(columns, original, control)
        sizes = [0, *sizes]  # the columns alone
    if original.columns is not None:
        original = replace(original, columns=known_columns(original.columns).named(columns) if columns else None)
    secrets = _secret_items(original, release, sensitive)
    observable = _observable(original, release)
    people = People.of(original, secrets, observable)
    held_out = None if control is None else People.of(_over(control, original), secrets, observable)
    as_it_was = Surface.of_original(original, secrets)
    published = Surface.of_release(release, original.vocabulary, secrets)
    exact = published.exact_labels(release, original.vocabulary)
    views = {"all": published, "exact": exact, "narrow": published.narrow_labels(exact)}
    has_own = aligned and release.has_own_records
    if not has_own:
        attackers = [attacker for attacker in attackers if attacker.knows not in ("shown", "identifying")]
    rows: list[AttackRow] = []
    notes: list[str] = []
    for size in sizes:
        if not people.can_be_known(size) or (held_out is not None and not held_out.can_be_known(size)):
            notes.append(f"No person has {size} public items or more.")
            continue
        strange = () if aligned else tuple(views.values())
        here = Targets(people, size, targets, seed, wrong, strange=strange, exact=exact)
        strangers = None
        if held_out is not None:
            strangers = Targets(held_out, size, targets, seed, wrong, False, tuple(views.values()))
        for attacker in attackers if size else [ATTACKERS["random"]]:
            progress(f"attacking with {size} known items", len(rows) / (len(sizes) * len(attackers)))
            view = views[attacker.labels]
            # The original shows everything that is true, exactly: there only errors make a best match.
            before = here.attacked(as_it_was, attacker.knows, attacker.match if attacker.knows == "wrong" else "every")
            after = here.attacked(view, attacker.knows, attacker.match)
            if not release.has_own_records:
                after = after.of_strangers()
            is_sure = attacker.match == "every"
            rate = partial(here.rate, attacker.knows)
            inferred_before = here.inferred(as_it_was, attacker.knows, True) if is_sure else None
            inferred_after = here.inferred(view, attacker.knows, has_own) if is_sure else None
            missed: Success | None = None
            if strangers is not None:
                inferred = strangers.inferred(view, attacker.knows, False) if is_sure else None
                outcomes = strangers.attacked(view, attacker.knows, attacker.match)
                missed = _stranger(partial(strangers.rate, attacker.knows), outcomes, inferred)
            elif has_own:
                missed = _without_own(rate, after, inferred_after)
            rows.append(
                AttackRow(
                    strategy=attacker.name,
                    known=size,
                    n_people=int((people.n_public >= size).sum()),
                    n_all=original.n_records,
                    n_targets=here.group.n_people,
                    n_secrets=here.group.n_with_secrets,
                    n_sensitive=len(secrets),
                    before=_success(rate, before, True, inferred_before),
                    after=_success(rate, after, aligned, inferred_after),
                    control=missed,
                    columns=columns,
                )
            )
    how = "the targets without their own record" if has_own else "none"
    if control is not None:
        how = f"{control.n_records:,} people held out"
    guesses = None
    if guess and aligned and is_grouped(release):
        guesses = guess_both(original, release, promised, remake, seed)
    left_out = attack_left_out(*whole, targets, seed, promised, remake) if guess and aligned else None
    return AttackTable(tuple(rows), len(secrets), how, seed, tuple(notes), guesses, left_out)


def _check(
    original: Transactions,
    release: Release,
    known: Iterable[int],
    targets: int,
    seed: int,
    strategies: Iterable[str],
    wrong: float,
) -> tuple[list[int], list[Attacker]]:
    sizes = known_sizes(known)
    checked_seed(seed)
    whole_number(targets, "targets")
    ways = list(dict.fromkeys(strategies))
    for way in ways:
        if way not in ATTACKERS:
            raise InputError(f'unknown attacker "{way}"; choose from {", ".join(ATTACKERS)}.')
    if not 0 <= wrong <= 1:
        raise InputError(f"wrong is a probability from 0 to 1, not {wrong}.")
    release.check_made_from(original, "attack a release with the data it was made from.")
    return sizes, [ATTACKERS[way] for way in ways]


def _require_columns(columns: Sequence[str], original: Transactions, control: Transactions | None) -> None:
    """Whoever is attacked has the columns that attackers know."""
    for who, data in (("original", original), ("control group", control)):
        lacking = [name for name in columns if data is not None and name not in known_columns(data.columns).names]
        if lacking:
            raise InputError(
                f"the {who} has no known column {name_some(lacking)}; state the same roles as in the run, with "
                "--known-columns."
            )


def _secret_items(original: Transactions, release: Release, sensitive: Iterable[str] | None) -> NDArray[np.int32]:
    """Numbers of the sensitive items that occur in the original, ascending."""
    numbers = original.vocabulary.numbers(set(release.sensitive_items if sensitive is None else sensitive))
    return np.sort(numbers[numbers >= 0])


def _over(control: Transactions, original: Transactions) -> Transactions:
    """The control group over the original's vocabulary; items that the original never had cannot be looked up."""
    return control.recode(original.vocabulary.numbers(control.vocabulary), original.vocabulary)


# -- how it went ------------------------------------------------------------------------------------------------------


def _success(rate: Mean, outcomes: Outcomes, aligned: bool, revealed: Revealed | None) -> Success:
    alone = outcomes.n_candidates == 1
    found = outcomes.is_found
    return Success(
        claimed=rate(alone),
        singled_out=rate(alone & found) if aligned else None,
        wrong_match=rate(alone & ~found) if aligned else None,
        found=rate(found) if aligned else None,
        linked=rate(found / np.maximum(outcomes.n_candidates, 1)) if aligned else None,
        right_guess=_guessed(rate, outcomes.posterior),
        **_inferred(rate, revealed and revealed.asked, revealed and revealed.found),
    )


def _without_own(rate: Mean, outcomes: Outcomes, revealed: Revealed | None) -> Success:
    """The same targets without their own records."""
    alone, guessed = rate(outcomes.n_others == 1), _guessed(rate, outcomes.control)
    inferred = _inferred(rate, revealed and revealed.asked, revealed and revealed.control)
    return Success(alone, None, None, None, None, guessed, **inferred)


def _stranger(rate: Mean, outcomes: Outcomes, revealed: Revealed | None) -> Success:
    """People who are not in the data: no record is theirs."""
    alone, guessed = rate(outcomes.n_candidates == 1), _guessed(rate, outcomes.posterior)
    inferred = _inferred(rate, revealed and revealed.asked, revealed and revealed.found)
    return Success(alone, None, None, None, None, guessed, **inferred)


def _guessed(rate: Mean, posterior: NDArray[np.float64]) -> Rate | None:
    asked = ~np.isnan(posterior)
    return rate(posterior[asked], asked) if asked.any() else None


def _inferred(rate: Mean, asked: NDArray[np.bool_] | None, found: Conclusions | None) -> dict[str, Any]:
    """The figures of ``INFERRED``, and the highest probability; nothing where nobody could be asked about."""
    if found is None or not len(found.certain):
        return {}
    return {
        "certain": rate(found.certain, asked),
        "likely": rate(found.likely, asked),
        "certain_category": None if found.category is None else rate(found.category, asked),
        "highest": found.highest,
    }


def _percent(rate: Rate | None) -> str:
    return "–" if rate is None else f"{100 * rate.value:.2f} %"
