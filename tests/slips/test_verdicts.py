"""What the lights say: green words only where a person may act on them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from report.test_page import KINDS, Reader, pages, recoding, with_record

import setveil as sv
from setveil.cli.main import _run
from setveil.report.facts import Facts
from setveil.report.lights import headline_of, lights_of
from setveil.report.record import facts_of


def facts(**changed: Any) -> Facts:
    """A release that deserves three green lights, with changes."""
    release = recoding()
    assert release.record is not None
    risk = sv.risk(release.record.data).to_dict()
    nothing = [{**row, "singled_out": 0.0} for row in risk["rows"]]
    made = facts_of(release, release.published.vocabulary.labels, True, {}, {}, risk, {"rows": nothing})
    options = {**made.model_options, "k": 5, **changed.pop("options", {})}
    metrics = {"exact_ratio": 0.9, "largest_set": 3, "n_published_items": 10, "empty_records": 0}
    metrics |= changed.pop("metrics", {})
    if "singled_out" in changed:
        changed["risk_after"] = [{**row, "singled_out": changed["singled_out"]} for row in risk["rows"]]
        del changed["singled_out"]
    return replace(made, model_options=options, metrics=metrics, **changed)


CASES: dict[str, tuple[dict[str, Any], tuple[str, str, str]]] = {
    "all is well": ({}, ("good", "good", "good")),
    "the promise is broken": ({"holds": False}, ("bad", "good", "good")),
    "a crowd of four": ({"options": {"k": 4}}, ("care", "good", "good")),
    "one known item": ({"options": {"m": 1}}, ("care", "good", "good")),
    "any number of known items": ({"options": {"m": "all"}}, ("good", "good", "good")),
    "ids are published": ({"kept": ("ids",)}, ("bad", "good", "good")),
    "order is published": ({"kept": ("order",)}, ("care", "good", "good")),
    "one in a hundred singled out": ({"singled_out": 0.01}, ("good", "good", "good")),
    "more than one in a hundred": ({"singled_out": 0.011}, ("good", "care", "good")),
    "more than one in ten": ({"singled_out": 0.11}, ("good", "bad", "good")),
    "ninety percent singled out": ({"singled_out": 0.9}, ("good", "bad", "good")),
    "half of the entries exact": ({"metrics": {"exact_ratio": 0.5}}, ("good", "good", "good")),
    "less than half": ({"metrics": {"exact_ratio": 0.49}}, ("good", "good", "care")),
    "less than a tenth": ({"metrics": {"exact_ratio": 0.09}}, ("good", "good", "bad")),
    "everything became one item": ({"metrics": {"exact_ratio": 0.0, "n_published_items": 1}}, ("good", "good", "bad")),
    "everything was left out": ({"metrics": {"exact_ratio": 0.0, "n_published_items": 0}}, ("good", "good", "bad")),
    "most records are empty": ({"metrics": {"empty_records": 13}}, ("good", "good", "bad")),
    "pair counts are off": (
        {
            "query_errors": {
                "n": 9,
                "singles": {"expand": {"typical": 0.0}},
                "pairs": {"expand": {"typical": 0.3}, "probability": {"typical": 0.26}},
            }
        },
        ("good", "good", "care"),
    ),
    "pair counts are right with one estimator": (
        {
            "query_errors": {
                "n": 9,
                "singles": {"expand": {"typical": 0.0}},
                "pairs": {"expand": {"typical": 9.0}, "probability": {"typical": 0.25}},
            }
        },
        ("good", "good", "good"),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_lights_follow_the_documented_thresholds(case: str) -> None:
    changed, colours = CASES[case]
    shown = facts(**changed)
    assert tuple(light.colour for light in lights_of(shown)) == colours
    worst = max(colours, key=("good", "care", "bad").index)
    colour, words = headline_of(shown)
    assert colour == worst
    assert (words == "The guarantee holds") == (worst == "good")


def test_what_only_the_owner_knows_is_no_green_light_in_public() -> None:
    """Where entries were left out the published ones are all exact, whatever was lost."""
    shown = facts(is_internal=False, has_suppression=True, metrics={"exact_ratio": None}, shape={"exact": 1.0})
    useful = lights_of(shown)[2]
    assert (useful.colour, useful.answer) == ("care", "partly known")
    assert "of the published entries are exact; how many were left out only the owner knows" in useful.sentence
    assert lights_of(replace(shown, has_suppression=False))[2].colour == "good"


def test_advice_speaks_of_what_the_model_has() -> None:
    from setveil.report.prose import advice_of

    little = facts(singled_out=0.9, metrics={"exact_ratio": 0.2}, algorithm="aa", model="km")
    assert "--algorithm trim" in " ".join(advice_of(little)) and "a larger m" in " ".join(advice_of(little))
    other = " ".join(advice_of(replace(little, model="constraints", algorithm="pcta+")))
    assert "trim" not in other and "larger m)" not in other and "--max-suppressed" in other


def test_advice_does_not_name_the_algorithm_that_was_used() -> None:
    from setveil.report.prose import advice_of

    one = facts(metrics={"n_published_items": 1}, algorithm="aa", model="km", kind="recoding")
    assert "--algorithm trim" in " ".join(advice_of(one))
    by_trim = " ".join(advice_of(replace(one, algorithm="trim", kind="local-recoding")))
    assert "Do not release this" in by_trim and "a smaller k or m" in by_trim and "trim" not in by_trim


def test_a_release_of_one_item_does_not_look_like_a_success(tmp_path: Path) -> None:
    data = sv.Transactions.from_lists([["a", "b"], ["a"], ["b", "c"], ["c"]] * 3)
    tree = sv.Hierarchy.balanced(data, 3)
    import numpy as np

    release = sv.Recoding.from_cut(data, tree, np.full(3, tree.root))
    public, internal = pages(with_record(release, data, sv.KmAnonymity(k=5, m=2), tree), tmp_path)
    for page in (public, internal):
        text = Reader(page).text
        assert "The guarantee holds, but little is left to use" in text
        assert "Only one item is published for everybody: nothing can be learned." in text
        assert "Do not release this" in text
        assert '<h1 class="bad">' in page


def test_commands_say_first_that_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("few.csv").write_text("id,item\n" + "".join(f"{person},{'abc'[person % 3]}\n" for person in range(9)))
    asked = ["--model", "km", "-k", "5", "-m", "1", "--algorithm", "aa", "--hierarchy", "fanout:3"]
    assert _run(["anonymize", "few.csv", "-o", "out", *asked]) == 0
    told = capsys.readouterr()
    assert "everything is published as one item" in told.err and "nothing left" in told.out
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
        places = [text.index(words) for words in ("The promise", "What remains", "Usefulness", "What is not protected")]
        assert places == sorted(places)
        assert places[-1] < text.index("The attacker knows")
