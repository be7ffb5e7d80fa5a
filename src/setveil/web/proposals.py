"""Proposals as plain values: lights, figures and a guarantee for a card, and a place in the plane of risk and loss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from setveil.models import make_model
from setveil.report.lights import GRADES, GUARANTEE, LEVELS, RESIDUAL_RISK, UTILITY, crowd_of
from setveil.report.profiles import Profile
from setveil.web.texts import FLOOR, GUARANTEE_GRADES, ORIGINAL, ORIGINAL_WORDS, PAIRS_OFF, SINGLED_OUT, UNCHANGED
from setveil.workflows import code_systems, pictures
from setveil.workflows.proposals import Choice, Suggestion

LETTERS = "ABC"  # of proposals


def shown_proposals(found: Suggestion, profile: Profile, floors: Mapping[int, float], who: str) -> dict[str, Any]:
    """The best proposals, why, and what was rejected. ``profile`` is what their runs are judged by."""
    lettered = list(zip(LETTERS, found.choices, strict=False))
    return {
        "chart": _chart_of(lettered, found.profile.singled_out, floors, who),
        "choices": [
            {
                "letter": letter,
                "model": choice.policy.model.name,
                "parameters": choice.policy.model.given(),
                "algorithm": choice.policy.algorithm.name,
                "options": dict(choice.policy.algorithm.options),
                "hierarchy": choice.policy.hierarchy.source,
                "hierarchy_name": _hierarchy_name(choice.policy.hierarchy.source),
                "guarantee": choice.guarantee,
                "role": choice.role,
                "lights": _lights_of(choice, profile),
                "figures": [
                    (pictures.short_percent(_worst_of(choice)), SINGLED_OUT.format(many=who)),
                    _kept_of(choice),
                ],
                "floor": _floor_of(choice, floors),
                "warning": choice.warning,
                "details": choice.words()[1:],
            }
            for letter, choice in lettered
        ],
        "reasons": list(found.reasons),
        "rejected": [f"{name}: {why}" for name, why in found.rejected],
    }


def _hierarchy_name(source: str | None) -> str:
    """A code system by its title, a file by its name; empty where there is none."""
    return code_systems.titles_of_systems().get(source or "", (source or "").rpartition("/")[2])


def _lights_of(choice: Choice, profile: Profile) -> list[dict[str, str]]:
    """The lights of a proposal; its guarantee was verified, but may be below what its run is judged by."""
    crowd = make_model(choice.policy.model.name, choice.policy.model.given()).crowd
    guarantee = "good" if crowd is None else crowd_of(profile).colour(crowd)
    return [
        {"question": question, "colour": colour, "answer": answer, "sentence": ""}
        for question, colour, answer in (
            (GUARANTEE, guarantee, GUARANTEE_GRADES[guarantee]),
            (RESIDUAL_RISK, choice.risk_colour, LEVELS[choice.risk_colour]),
            (UTILITY, choice.colour, GRADES[choice.colour]),
        )
    ]


def _kept_of(choice: Choice) -> tuple[str, str]:
    """What analysts keep: entries, or counts where no entry of a person is published."""
    pairs = choice.utility.errors.get("pairs")
    if choice.shown_entries and pairs is not None:
        return pictures.short_percent(pairs.mean), PAIRS_OFF
    return pictures.short_percent(choice.exact), UNCHANGED


def _worst_of(choice: Choice) -> float:
    """The share of all people whom the worst attacker tried singles out."""
    return choice.residual.of_all_people if choice.residual else 0.0


def _floor_of(choice: Choice, floors: Mapping[int, float]) -> str:
    """How far counts of pairs are off, beside what no release of this k can beat."""
    pairs, k = choice.utility.errors.get("pairs"), choice.policy.model.given().get("k")
    if pairs is None or k is None or k not in floors:
        return ""
    return FLOOR.format(error=pictures.short_percent(pairs.mean), k=k, floor=pictures.short_percent(floors[k]))


def _chart_of(
    lettered: Sequence[tuple[str, Choice]], singled_out: Sequence[float | None], floors: Mapping[int, float], who: str
) -> str:
    """The proposals in the plane of risk and loss; the original has no loss."""
    proposed = []
    for letter, choice in lettered:
        pairs = choice.utility.errors.get("pairs")
        risk, loss = _worst_of(choice), (pairs.mean if pairs else None)
        if loss is not None:
            proposed.append(pictures.Proposed(letter, choice.guarantee, risk, loss))
    raw = [share for share in singled_out if share is not None]
    original = pictures.Proposed(ORIGINAL, ORIGINAL_WORDS, raw[-1] if raw else 0.0, 0.0)
    return pictures.proposals_chart(proposed, original, floors, who) if proposed else ""
