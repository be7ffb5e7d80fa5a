"""The assessment: what a data protection officer must find, and figures that agree with the lights."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import setveil as sv
from setveil.errors import InputError
from setveil.report.assessment import decision_of, inference, linkability, render_assessment, risks_of, singling_out
from setveil.report.certificate import seal, write_json
from setveil.report.facts import Facts
from setveil.report.figures import CountErrors, mean_risk
from setveil.report.lights import lights_of
from setveil.report.profiles import (
    DEFAULT,
    ENVIRONMENTS,
    PROFILES,
    certified_profile,
    find_profile,
)
from setveil.report.words import percent
from setveil.workflows.pipeline import run
from tests.browsers import find_chromium

pytestmark = pytest.mark.filterwarnings("ignore::setveil.SetveilWarning")
ROOT = Path(__file__).parents[2]
ROWS = [["milk", "bread"], ["milk", "beer"], ["bread", "beer"], ["milk", "bread", "beer"]] * 5


def policy(**more: object) -> sv.Policy:
    content = {"schema": 1, "model": {"name": "km", "k": 5, "m": 2}, "algorithm": {"name": "trim"}, **more}
    return sv.Policy.from_dict(content)


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> Facts:
    outcome = run(policy(), ROWS, tmp_path_factory.mktemp("out") / "out")
    assert outcome.facts is not None
    return outcome.facts


# -- profiles ----------------------------------------------------------------------------------------------------------


def test_a_share_becomes_the_smallest_sufficient_k() -> None:
    assert find_profile("0.05").k == find_profile(0.05).k == find_profile("1/20").k == find_profile(20).k == 20
    assert find_profile("0.09").k == PROFILES["ema-0070"].k == 12  # 1/11 is above 0.09
    for profile in PROFILES.values():
        assert Fraction(1, profile.k) <= profile.limit < Fraction(1, profile.k - 1)


@pytest.mark.parametrize("wrong", ["1", "0", "-3", "1.5", "ema", "nan", "1/0", "9" * 60, ""])
def test_what_is_no_threshold_is_refused(wrong: str) -> None:
    with pytest.raises(InputError, match="the profile is one of ema-0070, cms-11"):
        find_profile(wrong)


def test_the_documented_profiles_are_those_of_the_code() -> None:
    text = (ROOT / "docs" / "assessment.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `([a-z0-9-]+)` \| (\d+) \| ([0-9.]+) \| (.*) \|$", text, re.MULTILINE)
    assert listed == [(one.name, str(one.k), f"{float(one.limit):.3g}", one.source) for one in PROFILES.values()]
    for name, one in ENVIRONMENTS.items():
        assert f"| `{name}` | {one.words} | at most {100 * one.low:g} % | above {100 * one.high:g} % |" in text
    assert "None of the thresholds below is legal advice" in text
    from setveil.cli.options import Profile

    assert all(name in Profile.__metadata__[0].help for name in PROFILES)


def test_a_chosen_profile_that_is_missed_is_red(facts: Facts) -> None:
    strict = replace(facts, profile=find_profile("ema-0070"))
    assert lights_of(facts)[0].colour == "good" and lights_of(strict)[0].colour == "bad"
    assert "increase k to 12" in lights_of(strict)[0].sentence
    assert decision_of(strict).colour == "bad"
    assert lights_of(replace(facts, crowd=4))[0].colour == "care"  # nobody chose a profile


def test_the_certificate_names_the_profile_and_the_public_page_follows_it(tmp_path: Path) -> None:
    asked = policy(assessment={"profile": "ema-0070", "environment": "agreement", "recipient": "Clinic"})
    outcome = run(asked, ROWS, tmp_path / "out")
    told = outcome.certificate["assessment"]
    assert told == {"profile": "ema-0070", "k": 12, "environment": "agreement"}
    assert certified_profile(told) == find_profile("ema-0070", "agreement")
    assert "below the threshold of ema-0070" in (outcome.path / "report.html").read_text()
    assert "Clinic" in (outcome.internal / "assessment.html").read_text()
    assert "Clinic" not in (outcome.path / "report.html").read_text() + (outcome.path / "certificate.json").read_text()
    assert sv.verify_folder(outcome.path, ROWS).holds
    assert "assessment" not in run(policy(), ROWS, tmp_path / "plain").certificate
    assert certified_profile(None) == DEFAULT


def test_the_profile_gives_the_k_that_is_missing() -> None:
    from setveil.workflows.policies import make_policy

    asked = {"model": {"name": "km", "m": 2}, "assessment": {"profile": "cms-11"}}
    assert make_policy(asked).model.given()["k"] == 11
    assert make_policy({**asked, "model": {"name": "km", "k": 3, "m": 2}}).model.given()["k"] == 3


# -- the page ----------------------------------------------------------------------------------------------------------


def test_the_page_has_the_words_that_an_auditor_looks_for(facts: Facts) -> None:
    page = render_assessment(facts, "0" * 64)
    order = ["Context and recipients", "Threat modelling", "Assumptions to confirm", "Data features"]
    order += [
        "Attack modelling",
        "Singling out",
        "Linkability",
        "Inference",
        "Quantified risk",
        "Mitigation",
        "Governance",
    ]
    places = [page.index(f">{words}" if words[0] in "SLIA" and "modelling" not in words else words) for words in order]
    assert places == sorted(places)
    for words in (
        "ISO/IEC 27559:2022",
        "WP216",
        "not legal advice",
        "date of re-assessment",
        "Maximum prosecutor risk",
    ):
        assert words in page
    assert page.index(decision_of(facts).words) < places[0]
    assert page == render_assessment(facts, "0" * 64)
    assert "http" not in page.replace("http-equiv", "")


def test_the_decision_is_no_better_than_the_lights(facts: Facts) -> None:
    def attacked(share: float) -> Facts:
        row = {**facts.risk_after[0], "known": 4, "worst_singled_out": share, "share_of_records": 1.0, "n_records": 20}
        return replace(facts, attacks=(), risk_after=[row])

    assert decision_of(attacked(0.0)).colour in ("good", "care")
    assert decision_of(attacked(0.05)).words == "Release supported under conditions"
    assert decision_of(attacked(0.5)).words == "Release not supported: the residual risk is too high"
    assert decision_of(replace(facts, holds=False)).colour == "bad"
    secure = replace(attacked(0.15), profile=find_profile(None, "secure"))
    assert decision_of(secure).colour == "care" and decision_of(attacked(0.15)).colour == "bad"


def test_the_highest_risk_that_applies_decides(facts: Facts) -> None:
    """A journalist risk or an average risk above the threshold is as bad as people who are singled out."""
    population = {"highest": 0.5, "fewest": 2, "people": 100, "mean": 0.1}
    assert decision_of(replace(facts, population={**population, "highest": 0.05})).words == decision_of(facts).words
    journalist = replace(facts, population=population)
    assert decision_of(journalist).words == "Release not supported: the residual risk is too high"
    assert (
        "Journalist risk: 50.0 % at most, for an attacker who knows whole records of"
        in lights_of(journalist)[1].sentence
    )
    assert next(row for row in risks_of(journalist) if row.name == "Journalist risk").colour == "bad"
    rows = [{**row, "mean_inverse_support": 0.4} for row in facts.risk_after]
    for profile, colour in ((None, "care"), ("0.1", "bad")):
        average = replace(facts, risk_after=rows, profile=find_profile(profile), crowd=12)
        assert next(row for row in risks_of(average) if row.name.startswith("Average")).colour == colour
        assert lights_of(average)[1].colour == decision_of(average).colour == colour


def test_the_three_tests_show_the_attacks_with_control_and_interval(facts: Facts) -> None:
    rate = {"before": [0.9, 0.8, 1.0], "after": [0.25, 0.2, 0.3], "control": [0.05, 0.05, 0.05], "of_all_people": 0.2}
    row = {"words": "knows 2 items", "known": 2, "base": "people with at least 2 items", "singled_out": None}
    row |= {
        "n_targets": 20,
        "n_people": 20,
        "attacker": "random",
        "linked": rate,
        "right_guess": rate,
        "highest_probability": {"after": 0.75},
    }
    told = {**rate, "base": "people with at least 2 items and a sensitive item"}
    shown = replace(facts, attacks=[{**row, "certain": told, "likely": told, "certain_category": None}])
    (linked, others), inferred = linkability(shown), inference(shown)
    assert "25.0 % (95 % interval 20.0 % to 30.0 %; base: people with at least 2 items)" in linked
    assert "Control, a record picked at random: 5.00 %" in linked and "none declared" in others
    assert inferred[0].startswith(
        "An attacker who knows 2 items becomes certain of a sensitive item for 25.0 % of people"
    )
    assert "(90.0 % before anonymization; 5.00 % for people not in the data; 95 % interval 20.0 % to" in inferred[0]
    assert (
        inferred[1].startswith("More than 50 % sure of a sensitive item: 25.0 %") and "control: 5.00 %" in inferred[1]
    )
    assert (
        "Highest probability of a named sensitive item: 75.0 %, over all people, with up to 2 known items." in inferred
    )
    sampled = replace(shown, attacks=[{**row, "n_people": 21} for row in shown.attacks])
    assert any("a random sample" in line and "it can be higher" in line for line in inference(sampled))
    assert not any("No sensitive items were named" in line for line in inferred)  # attacks know which are
    assert [row.colour for row in risks_of(shown) if row.name == "Attacker certain of a sensitive item"] == ["bad"]
    anyone = replace(facts, attacks=[{**row, "certain": told, "likely": told, "certain_category": told}])
    assert "for 20.0 % of all people, 25.0 % of people" in inference(anyone)[0]
    assert [row.colour for row in risks_of(anyone) if row.name == "Attacker certain of a further item"] == ["care"]
    assert lights_of(anyone)[1].colour == "care" and lights_of(shown)[1].colour == "bad"
    assert facts.guarantee in singling_out(facts)[0]
    assert singling_out(facts)[1:] == ["With up to 3 known items, no attacker tried singles out anyone."]
    row = facts.risk_after[0] | {"known": 4, "worst_singled_out": 0.0}
    for most, is_low in ((0.0008, True), (0.99, False)):  # a sample, and a search that gave up for nearly everybody
        sampled = replace(facts, risk_after=[row | {"worst_singled_out_interval": [0.0, most]}], attacks=[])
        assert (lights_of(sampled)[1].colour == "good") == is_low
        assert ("The share can be higher" in singling_out(sampled)[-1]) != is_low
        assert ("no attacker tried singles out anyone" in singling_out(sampled)[-1]) == is_low
    row_of_one = facts.risk_after[0] | {"worst_singled_out_interval": None}
    beyond = [{**row_of_one, "known": known, "worst_singled_out": known / 100} for known in (1, 2, 3, 4)]
    _, more, worst = singling_out(replace(facts, risk_after=beyond, risk_before=[]))
    assert more.startswith("With one known item more (3), an attacker who knows up to 3 items of a person")
    assert "singles out 3.00 % of all people" in more and "singles out 4.00 % of all people" in worst
    assert "There is no control" in worst


def test_the_prosecutor_risk_is_one_in_k(facts: Facts) -> None:
    first = risks_of(facts)[0]
    assert (first.value, first.threshold, first.colour) == ("20.0 %", "at most 20.0 %", "good")
    assert risks_of(replace(facts, profile=find_profile("ons-10")))[0].colour == "bad"
    assert risks_of(facts)[1].note == "taken as prosecutor risk: membership assumed known"


@pytest.mark.parametrize(
    ("model", "options"),
    [
        ("coherence", {"k": 4, "h": 60, "p": 1, "sensitive": ["beer"]}),
        ("km", {"k": 4, "m": 1, "algorithm": "aa", "hierarchy": "fanout:2"}),
        ("kkm", {"k": 4, "m": 1, "sensitive": ["beer"], "hierarchy": "fanout:2"}),
    ],
)
def test_the_average_risk_is_that_of_the_attacker_of_the_guarantee(
    model: str, options: dict[str, Any], tmp_path: Path
) -> None:
    """So it is never above the maximum."""
    rows = [["beer", "milk"], ["milk", "bread", "wine"], ["bread", "wine"], ["beer", "bread", "milk"]] * 8
    facts = sv.publish(sv.anonymize(rows, model, **options), tmp_path / "out").facts
    mean, base = mean_risk(facts.risk_after, facts.covered_items)
    assert base == "mean over people with 1 known published label"
    assert mean is not None and mean <= 1 / facts.crowd
    assert any(row["known"] > 1 for row in facts.risk_after)


def test_what_rounding_leaves_of_nothing_is_nothing() -> None:
    assert percent(1e-16) == percent(0.0) == "0.00 %" and percent(1e-7) == "< 0.01 %"
    assert CountErrors(1e-16, 1e-16, 2e-16).words == "exact"


def test_journalist_risk_counts_the_matching_people_of_the_population(tmp_path: Path) -> None:
    asked = policy(algorithm={"name": "aa"}, hierarchy={"source": "fanout:2"}, model={"name": "km", "k": 2, "m": 2})
    people = [*ROWS, ["milk", "bread"], ["milk", "bread", "unheard"]]
    outcome = run(asked, ROWS, tmp_path / "out", population=people)
    assert outcome.facts is not None
    found = outcome.facts.population
    book = outcome.release.codebook()

    def shown(row: list[str]) -> frozenset[str]:
        return frozenset(filter(None, map(book.published, row)))

    sets = [{frozenset(part) for n in (1, 2) for part in combinations(shown(row), n)} for row in people[:-1]]
    by_hand = [min(sum(part in one for one in sets) for part in sets[place]) for place in range(len(ROWS))]
    whole = [sum(shown(row) == shown(one) for one in people[:-1]) for row in ROWS]  # the stranger matches nobody
    assert (found["people"], found["known"], found["whole"]) == (len(people), 2, 1 / min(whole))
    assert (found["fewest"], found["highest"]) == (min(by_hand), 1 / min(by_hand))
    assert found["mean"] == pytest.approx(sum(1 / n for n in by_hand) / len(by_hand))
    with pytest.raises(InputError, match="1 people of the data are not in the population"):
        run(asked, ROWS, tmp_path / "less", population=ROWS[1:])


@pytest.mark.skipif(find_chromium() is None, reason="no Chromium is installed and none could be set up")
def test_the_assessment_prints_on_two_pages(facts: Facts, tmp_path: Path) -> None:
    browser = find_chromium()
    assert browser is not None
    about = {"title": "Visits of 2025", "responsible": "Data office", "purpose": "Teaching and research"}
    page = tmp_path / "assessment.html"
    page.write_text(render_assessment(replace(facts, about=about, recipient="A clinic"), "0" * 64), encoding="utf-8")
    words = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    target = tmp_path / "a.pdf"
    subprocess.run(
        [browser, *words, "--no-pdf-header-footer", f"--print-to-pdf={target}", page.as_uri()],
        timeout=120,
        check=True,
        capture_output=True,
    )
    assert len(re.findall(rb"/Type ?/Page\b(?!s)", target.read_bytes())) == 2


def test_a_certificate_from_before_the_worst_attacker_stays_verifiable(tmp_path: Path) -> None:
    out = sv.anonymize([["a", "b"]] * 6, "km", k=2, m=2, algorithm="trim").publish(tmp_path / "out")
    certificate = json.loads((out / "certificate.json").read_text())
    for row in certificate["risk"]["after"]:
        del row["worst_singled_out"], row["worst_singled_out_interval"]
    write_json(seal(certificate), out / "certificate.json")
    assert sv.verify_folder(out).holds is False  # this version writes the figure
    write_json(seal({**certificate, "setveil": "0.2.0"}), out / "certificate.json")
    result = sv.verify_folder(out)
    assert result.holds, result.problems
    assert any("before the worst attacker was measured" in note for note in result.notes)
