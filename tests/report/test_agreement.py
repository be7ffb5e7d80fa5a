"""One quantity has one value: every figure on the console, in JSON, on both pages and in the certificate."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

import setveil as sv
from setveil.cli.main import _run
from setveil.report.figures import NOISE, SIZES
from setveil.report.words import percent
from tests.report.test_page import Reader

# A figure is told by its words, and a base is a part of them: other bases are other figures.
N = r"(?:< )?[\d,]+(?:\.\d+)? %"
FIGURES = {
    "singled out, of all people": rf"singles out ({N}) of all people",
    "singled out, of the base": rf"singles out {N} of all people, ({N}) of people with",
    "base of the worst attacker": rf"singles out {N} of all people, {N} of (people with at least \d+ \w+)",
    "interval": rf"singles out (?:(?!certain).)*? before anonymization\)\. 95 % interval: ({N} to {N}) of people",
    "certain, of all people": rf"certain of a further item for ({N}) of all people",
    "certain, of the base": rf"certain of a \w+ item for (?:{N} of all people, )?({N}) of people with",
    "certain, control": rf"before anonymization; ({N}) for people not in the data",
    "entries unchanged": rf"({N}) of entries are published unchanged",
    "published entries unchanged": rf"({N}) of published entries are published unchanged",
    "share of entries unchanged": rf"share of entries published unchanged\W+({N})",
    "broadest category": r"broadest category covers ([\d,]+) items",
    "countable within 10 %": rf"({N}) of distinct items can be counted within 10 %",
    "countable within 25 %": rf"within 10 %, ({N}) within 25 %",
    **{
        f"counts of {what}": rf"[Cc]ounts of {what}: (exact|median error {N}, mean error {N})"
        for what in (*SIZES.values(), "published categories")
    },
    "suppressed": rf"share of entries suppressed\W+({N})",
    "labels": r"different labels published\W+([\d,]+)",
    "empty": r"records published empty\W+([\d,]+)",
    "linked": rf"probability (?:of at most|above) ({N})",
}

SETTINGS = {
    "recoding": ["--model", "km", "-k", "4", "-m", "2", "--algorithm", "aa", "--hierarchy", "fanout:3"],
    "local-recoding": ["--model", "km", "-k", "4", "-m", "2", "--algorithm", "trim", "--hierarchy", "fanout:3"],
    "replacement": ["--model", "k-anonymity", "-k", "4"],
    "grouping": ["--model", "degree", "-p", "4", "--sensitive", "i00,i01"],
    "counts": ["--model", "counts", "-k", "20", "-m", "2"],
    "uncertainty": ["--model", "uncertainty", "--rho", "1/2", "-p", "2", "--sensitive", "i00,i01"],
    "kkm": [
        *("--model", "kkm", "-k", "4", "-m", "2", "--person", "person", "--item", "item", "--known-columns", "region"),
        *("--hierarchy", "fanout:3"),
    ],
    "coherence": ["--model", "coherence", "-H", "60", "-k", "4", "-p", "1", "--sensitive", "i00"],
    "km all": ["--model", "km", "-k", "4", "-m", "all", "--algorithm", "trim"],
    "k-anonymity": ["--model", "k-anonymity", "-k", "4", "-l", "2", "--sensitive", "i00,i01"],
    "constraints": ["--model", "constraints", "-k", "4", "--constraints", "constraints.txt"],
    "rules": ["--model", "rules", "-k", "4", "--confidence", "1/2", "--rules", "rules.txt"],
}
LISTS = {"constraints.txt": "i02,i03\ni04\ni05\n", "rules.txt": "i02 => i00\ni03,i04 => i01\n"}
NAMES_ITEMS = ("--sensitive", "--rules")


@pytest.fixture(scope="module")
def baskets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_baskets(tmp_path_factory.mktemp("data"))


def write_baskets(folder: Path) -> Path:
    """Baskets with habits, of very different length: some people are no target for attackers who know four items."""
    source = random.Random(3)
    tastes = [source.sample(range(40), 8) for _ in range(12)]
    rows = [source.sample(source.choice(tastes), min(source.choice((1, 2, 2, 3, 5, 8)), 8)) for _ in range(300)]
    path = folder / "baskets.jsonl"
    path.write_text("".join(json.dumps([f"i{item:02}" for item in sorted(row)]) + "\n" for row in rows))
    for name, text in LISTS.items():
        path.with_name(name).write_text(text)
    lines = [f"{person},{'NS'[person % 2]},i{item:02}\n" for person, row in enumerate(rows) for item in sorted(row)]
    path.with_name("people.csv").write_text("".join(["person,region,item\n", *lines]))
    return path


def collected(texts: dict[str, str]) -> dict[str, dict[str, set[str]]]:
    """By figure and place the values that are shown there."""
    flat = {place: " ".join(text.split()) for place, text in texts.items()}
    return {
        name: {
            place: found for place, text in flat.items() if (found := {v.strip() for v in re.findall(pattern, text)})
        }
        for name, pattern in FIGURES.items()
    }


@pytest.mark.parametrize("setting", SETTINGS)
def test_every_place_shows_the_same_figures(
    setting: str,
    baskets: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(baskets.parent)
    if "--known-columns" in SETTINGS[setting]:
        baskets = baskets.with_name("people.csv")
    out = {name: str(tmp_path / name) for name in ("shown", "plain")}
    assert _run(["anonymize", str(baskets), "-o", out["shown"], *SETTINGS[setting]]) == 0
    console = capsys.readouterr().out
    assert _run(["anonymize", str(baskets), "-o", out["plain"], *SETTINGS[setting], "--json"]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert _run(["measure", str(baskets), out["shown"]]) == 0
    measured = capsys.readouterr().out
    inside = Reader(Path(f"{out['shown']}.internal/report.html").read_text()).text
    outside = Reader(Path(f"{out['shown']}/report.html").read_text()).text
    lights = " ".join(light[2] for light in plain["lights"].values())
    assessed = " ".join(Reader(Path(f"{out['shown']}.internal/assessment.html").read_text()).text.split())
    # The assessment also has the attacker who knows one item more than the guarantee covers: another figure.
    signed = re.sub(rf"With one known item more \(\d+\), .*? singles out {N} of all people", "", assessed)
    found = collected(
        {"console": console, "JSON": lights, "internal": inside, "measure": measured, "assessment": signed}
    )
    for name, places in found.items():
        assert len({value for values in places.values() for value in values}) <= 1, (name, places)

    # What is shown is what the JSON output has, and every place has it.
    risk, utility = plain["residual_risk"], plain["utility"]
    for place in ("console", "JSON", "internal"):
        assert found["singled out, of all people"].get(place, {percent(0.0)}) == {percent(risk["of_all_people"])}
        if utility["unchanged"] is not None:
            assert found["entries unchanged"][place] == {percent(utility["unchanged"])}
        assert found["countable within 10 %"][place] == {percent(utility["countable_within_10"])}
        for size, errors in utility["count_errors"].items():
            shown = found[f"counts of {SIZES[size]}"][place]
            both = f"median error {percent(errors['median'])}, mean error {percent(errors['mean'])}"
            assert shown == {"exact" if errors["largest"] < NOISE else both}

    inferred = plain["inference"]
    assert inferred["sensitive_items_named"] == any(option in SETTINGS[setting] for option in NAMES_ITEMS)
    for place in ("console", "JSON", "internal", "assessment"):
        if inferred["certain"]["after"]:
            if not inferred["sensitive_items_named"]:
                assert found["certain, of all people"][place] == {percent(inferred["certain"]["of_all_people"])}
            if inferred["certain"]["control"] is not None:
                assert found["certain, control"][place] == {percent(inferred["certain"]["control"])}
    assert f"{percent(risk['of_all_people'])} of all people" in assessed or not risk["of_all_people"]
    assert not inferred["certain"]["after"] or percent(inferred["certain"]["after"]) in assessed

    # The public page shows the certificate, and no public figure contradicts an internal one.
    certificate = json.loads(Path(out["shown"], "certificate.json").read_text())
    rows = [row for row in certificate["risk"]["after"] if row["worst_singled_out"] is not None]
    public = collected({"public": outside})
    worst = max((row["worst_singled_out"] for row in rows), default=0.0)
    assert public["singled out, of all people"].get("public", {percent(0.0)}) == {percent(worst)}
    assert worst == risk["of_all_people"]  # the worst attacker needs no original: both pages show the same figure
    tried = [row["singled_out"] * row["share_of_records"] for row in rows]
    assert worst >= max(tried, default=0.0)
    for name in ("broadest category", "labels", "empty", "linked"):
        values = {value for part in (found, public) for shown in part[name].values() for value in shown}
        assert len(values) <= 1, (name, values)
    assert plain["risk"]["after"]["rows"] == certificate["risk"]["after"]


@pytest.mark.parametrize("setting", ["recoding", "local-recoding"])
def test_a_comparison_shows_the_figures_of_the_report(setting: str, baskets: Path, tmp_path: Path) -> None:
    options = dict(zip(SETTINGS[setting][::2], SETTINGS[setting][1::2], strict=True))
    algorithm = options["--algorithm"]
    release = sv.anonymize(baskets, "km", k=4, m=2, algorithm=algorithm, hierarchy="fanout:3")
    outcome = sv.publish(release, tmp_path / "out")
    grid = {"grid": [{"model": "km", "k": 4, "m": 2, "algorithm": algorithm, "hierarchy": "fanout:3"}]}
    (row,) = sv.compare(baskets, grid).rows
    from setveil.report.figures import residual_of, unchanged_of, utility_of

    worst = residual_of(outcome.facts)
    assert row["singled_out"] == worst.of_all_people
    assert row["exact_ratio"] == unchanged_of(outcome.facts).share
    assert row["avg_re"] == utility_of(outcome.facts.query_errors).errors["pairs"].mean


def test_a_suggestion_shows_the_figures_of_its_report(baskets: Path, tmp_path: Path) -> None:
    from setveil.report.figures import residual_of, unchanged_of, utility_of

    found = sv.suggest(baskets, purpose="internal", hierarchy="fanout:3")
    choice = found.choices[0]
    assert not choice.is_sampled
    outcome = sv.run(found.policy(), str(baskets), tmp_path / "out")
    assert choice.exact == unchanged_of(outcome.facts).share
    assert choice.residual == residual_of(outcome.facts)
    assert choice.utility == utility_of(outcome.facts.query_errors)
    assert choice.colour == outcome.lights[2].colour
    assert choice.risk_colour == outcome.lights[1].colour


def test_the_risk_before_is_that_of_the_risk_command(tmp_path: Path) -> None:
    """Whatever the policy's seed, and where figures are sampled."""
    source = random.Random(5)
    data = sv.Transactions.from_lists([[f"{item:03}" for item in source.sample(range(150), 90)] for _ in range(40)])
    release = sv.anonymize(data, "km", k=2, m=1, algorithm="aa", hierarchy="fanout:5", seed=7)
    outcome: Any = sv.publish(release, tmp_path / "out")
    table = sv.risk(data)
    assert not table.rows[3].exact
    for row, same in zip(table.rows, outcome.risk_before.rows, strict=True):
        assert (row.singled_out, row.mean_inverse_support) == (same.singled_out, same.mean_inverse_support)
