"""What the lights say: green words only where a person may act on them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import setveil as sv
from setveil.cli.main import _run
from setveil.report.facts import Facts
from setveil.report.lights import headline_of, lights_of, thresholds_of
from setveil.report.prose import advice_of
from setveil.report.record import facts_of
from tests.report.test_page import KINDS, Reader, pages, recoding, with_record


def facts(**changed: Any) -> Facts:
    """A release that deserves three green lights, with changes."""
    release = recoding()
    assert release.record is not None
    risk = sv.risk(release.record.data).to_dict()
    nothing = [{**row, **shares(0.0)} for row in risk["rows"] if row["n_records"]]
    made = facts_of(release, release.published.vocabulary.labels, True, {}, {}, risk, {"rows": nothing})
    model = changed.pop("model_is", sv.KmAnonymity(k=5, m=2))
    asked = {"model_options": model.options(), "crowd": model.crowd, "known_items": model.known_items}
    metrics = {"exact_ratio": 0.9, "largest_set": 3, "n_published_items": 10, "empty_records": 0}
    metrics |= changed.pop("metrics", {})
    if "singled_out" in changed:
        known = [{**row, "share_of_records": 1.0} for row in risk["rows"] if row["known"] < 3]
        changed["risk_after"] = [{**row, **shares(changed["singled_out"])} for row in known]
        del changed["singled_out"]
    return replace(made, metrics=metrics, **{**asked, **changed})


def shares(singled_out: float) -> dict[str, Any]:
    """The figures of a risk table that the lights look at."""
    return {"singled_out": singled_out, "worst_singled_out": singled_out, "mean_inverse_support": 0.01}


def attacked(share: float, of_all: float) -> dict[str, Any]:
    """An attack that singles out a share of those it can be carried out on."""
    rate = {"before": [1.0, 1.0, 1.0], "after": [share] * 3, "control": [0.0] * 3, "of_all_people": of_all}
    return {
        "attacker": "rarest exact", "words": "knows the 4 rarest items of a person", "known": 4, "n_people": 352,
        "n_all_people": 7265,
        "base": "people with at least 4 items", "singled_out": rate, "right_guess": None,
    }  # fmt: skip


def counts(pairs: float, mean: float, within: float = 0.9) -> dict[str, Any]:
    """Errors of counts: the median and the mean of pairs, and the share of items counted well."""
    fine = {"expand": {"median": 0.0, "mean": 0.0, "largest": 0.0}}
    worse = {"median": 9.0, "mean": 9.0, "largest": 9.0}
    found = {"expand": worse, "share": {"median": pairs, "mean": mean, "largest": max(pairs, mean)}}
    return {"n": 9, "singles": fine, "pairs": found, "countable": {"within_10": within / 2, "within_25": within}}


CASES: dict[str, tuple[dict[str, Any], tuple[str, str, str]]] = {
    "all is well": ({}, ("good", "good", "good")),
    "the promise is broken": ({"holds": False}, ("bad", "good", "good")),
    "a crowd of four": ({"model_is": sv.KmAnonymity(k=4, m=2)}, ("care", "good", "good")),
    "one known item": ({"model_is": sv.KmAnonymity(k=5, m=1)}, ("care", "good", "good")),
    "any number of known items": ({"model_is": sv.KmAnonymity(k=5, m="all")}, ("good", "good", "good")),
    "one known public item": ({"model_is": sv.Coherence(h=50, k=5, p=1, sensitive=["flu"])}, ("care", "good", "good")),
    "two known public items": ({"model_is": sv.Coherence(h=50, k=5, p=2, sensitive=["flu"])}, ("good",) * 3),
    "all public items known": ({"model_is": sv.PrivacyDegree(p=5, sensitive=["flu"])}, ("good", "good", "good")),
    "a degree of four": ({"model_is": sv.PrivacyDegree(p=4, sensitive=["flu"])}, ("care", "good", "good")),
    "most of those who qualify, who are few": ({"attacks": [attacked(0.739, 0.06)]}, ("good", "care", "good")),
    "one attacker of many finds many": ({"attacks": [attacked(0.2, 0.2)], "singled_out": 0.0}, ("good", "bad", "good")),
    "ids are published": ({"kept": ("ids",)}, ("bad", "good", "good")),
    "order is published": ({"kept": ("order",)}, ("care", "good", "good")),
    "one in a hundred singled out": ({"singled_out": 0.01}, ("good", "good", "good")),
    "more than one in a hundred": ({"singled_out": 0.011}, ("good", "care", "good")),
    "more than one in ten": ({"singled_out": 0.11}, ("good", "bad", "good")),
    "ninety percent singled out": ({"singled_out": 0.9}, ("good", "bad", "good")),
    "half of the entries exact": ({"metrics": {"exact_ratio": 0.5}}, ("good", "good", "good")),
    "less than half": ({"metrics": {"exact_ratio": 0.49}}, ("good", "good", "care")),
    "nothing but categories": ({"metrics": {"exact_ratio": 0.0}}, ("good", "good", "care")),
    "most entries in mixed categories": (
        {
            "query_errors": counts(0.0, 0.0)
            | {"categories": {"median": 0, "mean": 0, "largest": 0, "mixed_of_all": 0.51}}
        },
        ("good", "good", "bad"),
    ),
    "most pair counts are far off": ({"query_errors": counts(0.96, 0.5)}, ("good", "good", "bad")),
    "the mean of pair counts is three quarters": ({"query_errors": counts(0.1, 0.75)}, ("good", "good", "care")),
    "everything became one item": ({"metrics": {"exact_ratio": 0.0, "n_published_items": 1}}, ("good", "good", "bad")),
    "everything was left out": ({"metrics": {"exact_ratio": 0.0, "n_published_items": 0}}, ("good", "good", "bad")),
    "most records are empty": ({"metrics": {"empty_records": 13}}, ("good", "good", "bad")),
    "pair counts are off": ({"query_errors": counts(0.26, 0.26)}, ("good", "good", "care")),
    "pair counts are right with one estimator": ({"query_errors": counts(0.25, 0.3)}, ("good", "good", "good")),
    "half of the pair counts are right, others far off": (
        {"query_errors": counts(0.0, 2.62)},
        ("good", "good", "bad"),
    ),
    "few items can be counted": ({"query_errors": counts(0.0, 0.0, 0.4)}, ("good", "good", "care")),
    "hardly any item can be counted": ({"query_errors": counts(0.0, 0.0, 0.05)}, ("good", "good", "care")),
}


@pytest.mark.parametrize("case", CASES)
def test_the_lights_follow_the_documented_thresholds(case: str) -> None:
    changed, colours = CASES[case]
    shown = facts(**changed)
    assert tuple(light.colour for light in lights_of(shown)) == colours
    worst = max(colours, key=("good", "care", "bad").index)
    colour, words = headline_of(shown)
    assert colour == worst
    assert words.startswith("Guarantee met") == (colours[0] != "bad")


def test_the_documented_thresholds_are_those_of_the_code() -> None:
    text = (Path(__file__).parents[2] / "docs" / "report.md").read_text(encoding="utf-8")
    for light, rules in thresholds_of().items():
        for rule in rules:
            assert f"| {light} | {' | '.join(rule.words())} |" in text, rule


def test_a_median_of_nothing_is_not_called_exact() -> None:
    """Both the median and the mean are shown; "exact" only if every count is."""
    told = lights_of(facts(query_errors=counts(0.0, 2.62)))[2].sentence
    assert "counts of single items: exact" in told
    assert "counts of pairs: median error 0.00 %, mean error 262.0 %" in told


def test_shares_name_their_base() -> None:
    told = lights_of(facts(attacks=[attacked(0.739, 0.0358)], singled_out=0.0))[1].sentence
    assert "singles out 3.58 % of all people, 73.9 % of people with at least 4 items" in told


def test_the_most_pressing_advice_comes_first() -> None:
    """Whoever is at risk comes before what analysts lose, however short the sentences are."""
    many = facts(singled_out=0.9, metrics={"exact_ratio": 0.2, "empty_records": 20}, algorithm="aa")
    protect, empty, coarse = advice_of(many)
    assert "re-identify many people" in protect and "published empty" in empty and "generalized" in coarse
    useless = advice_of(replace(many, metrics={**many.metrics, "n_published_items": 1}))
    assert useless[0].startswith("Do not publish")


@pytest.mark.parametrize("case", CASES)
def test_a_red_light_comes_with_advice(case: str) -> None:
    shown = facts(**CASES[case][0])
    assert advice_of(shown) or "bad" not in {light.colour for light in lights_of(shown)}


def test_poor_utility_names_its_reason_and_what_keeps_more() -> None:
    (told,) = advice_of(facts(model="kkm", query_errors=counts(0.0, 0.9, 0.9)))
    assert "pairs of items are off by 90.0 %" in told and "smaller k or m, or drop a column" in told


def test_what_only_the_owner_knows_is_no_green_light_in_public() -> None:
    """Where entries were left out the published ones are all exact, whatever was lost."""
    shown = facts(is_internal=False, has_suppression=True, metrics={"exact_ratio": None}, shape={"exact": 1.0})
    useful = lights_of(shown)[2]
    assert (useful.colour, useful.answer) == ("note", "judged by the owner")
    assert "100.0 % of published entries are published unchanged" in useful.sentence
    assert "only the owner knows how many entries were suppressed" in useful.sentence
    assert lights_of(replace(shown, has_suppression=False))[2].colour == "note"


@pytest.mark.parametrize("case", CASES)
def test_the_public_page_never_shows_another_colour_than_the_internal_one(case: str) -> None:
    """Residual risk and utility are judged with the original; in public only what the files decide has a colour."""
    shown = facts(**CASES[case][0])
    public = lights_of(shown.public())
    for inside, outside in zip(lights_of(shown), public, strict=True):
        assert outside.colour in (inside.colour, "note"), (inside, outside)
    assert public[0].colour != "note" and public[1].colour == "note"
    assert "note" not in {light.colour for light in lights_of(shown)}
    assert headline_of(shown.public())[0] in ("good", "care", "bad")


def test_advice_speaks_of_what_the_model_has() -> None:
    little = facts(singled_out=0.9, metrics={"exact_ratio": 0.2}, algorithm="aa", model="km")
    assert "--algorithm trim" in " ".join(advice_of(little)) and "Increase m" in " ".join(advice_of(little))
    other = " ".join(advice_of(replace(little, model="constraints", algorithm="pcta+")))
    assert "trim" not in other and "Increase m" not in other and "--max-suppressed" in other


def test_advice_does_not_name_the_algorithm_that_was_used() -> None:
    one = facts(metrics={"n_published_items": 1}, algorithm="aa", model="km", kind="recoding")
    assert "--algorithm trim" in " ".join(advice_of(one))
    by_trim = " ".join(advice_of(replace(one, algorithm="trim", kind="local-recoding", has_suppression=True)))
    assert "Do not publish this" in by_trim and "a smaller k or m" in by_trim and "trim" not in by_trim


def test_a_release_of_one_item_does_not_look_like_a_success(tmp_path: Path) -> None:
    data = sv.Transactions.from_lists([["a", "b"], ["a"], ["b", "c"], ["c"]] * 3)
    tree = sv.Hierarchy.balanced(data, 3)
    import numpy as np

    release = sv.Recoding.from_cut(data, tree, np.full(3, tree.root))
    public, internal = pages(with_record(release, data, sv.KmAnonymity(k=5, m=2), tree), tmp_path)
    for page in (public, internal):
        text = Reader(page).text
        assert re.search("Guarantee met;( residual risk: low;)? utility: poor", text)
        assert "Only one label is published for all people: nothing can be learned." in text
        assert ("Do not publish this" in text) == (page is internal)  # which is for the owner
        assert '<h1 class="bad">' in page


def test_commands_say_first_that_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("few.csv").write_text("id,item\n" + "".join(f"{person},{'abc'[person % 3]}\n" for person in range(9)))
    asked = ["--model", "km", "-k", "5", "-m", "1", "--algorithm", "aa", "--hierarchy", "fanout:3"]
    assert _run(["anonymize", "few.csv", "-o", "out", *asked]) == 0
    told = capsys.readouterr()
    assert "everything is published as one item" in told.err and "Utility: poor" in told.out
    assert _run(["verify", "out"]) == 0
    assert capsys.readouterr().out.startswith("out: verified, but only one item is published for everybody")
    assert _run(["verify", "out/published.csv", "--model", "km", "-k", "5", "-m", "1", "--labels-as-they-are"]) == 0
    assert capsys.readouterr().out.startswith("verified, but only one item is published for everybody")
    assert _run(["measure", "few.csv", "out"]) == 0
    assert "only one item is published for everybody" in capsys.readouterr().err


def test_about_is_shown_inside_only_and_gaps_become_lines(tmp_path: Path) -> None:
    from setveil.workflows.policies import make_policy

    about = {"title": "Visits of a year", "responsible": "The data office"}
    policy = make_policy({"model": {"name": "km", "k": 4, "m": 2}, "about": about})
    public, internal = pages(recoding(), tmp_path, policy=policy)
    for words in about.values():
        assert words in internal
        assert words not in public
    assert internal.count('<dd class="blank">') == 2  # date and purpose
    assert "Sign-off" in internal
    assert "Sign-off" not in public


@pytest.mark.parametrize("kind", KINDS)
def test_three_questions_are_answered_before_anything_else(kind: str, tmp_path: Path) -> None:
    for page in pages(KINDS[kind](), tmp_path):
        text = Reader(page).text
        places = [text.index(words) for words in ("Guarantee", "Residual risk", "Utility", "What is not protected")]
        assert places == sorted(places)
        assert places[-1] < text.index("The attacker knows")
