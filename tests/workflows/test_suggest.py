"""Suggestions: fitting, feasible, worth having, and with a command that works as pasted."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import setveil as sv
from setveil.algorithms import find
from setveil.cli.main import _run
from setveil.core import Transactions
from setveil.errors import InfeasibleError, InputError
from setveil.report.profiles import find_profile
from setveil.workflows import suggest as module
from setveil.workflows.suggest import PURPOSES, SAMPLES, Choice, profile_of, suggest
from setveil.workflows.trials import OUT_OF_TIME, TOOK_LONGER

pytestmark = pytest.mark.filterwarnings("ignore::setveil.SetveilWarning")


def sparse(seed: int = 0, n_records: int = 300) -> Transactions:
    random = np.random.default_rng(seed)
    weights = 1.0 / np.arange(1, 61)
    chosen = [
        random.choice(60, size=random.integers(1, 5), replace=False, p=weights / weights.sum())
        for _ in range(n_records)
    ]
    return Transactions.from_lists([[f"i{item:02d}" for item in row] for row in chosen])


def test_the_profile_tells_the_shape() -> None:
    profile = profile_of(Transactions.from_lists([["a", "b"], ["a"], [], ["a", "c"]]))
    assert (profile.n_records, profile.n_filled, profile.n_items, profile.longest) == (4, 3, 3, 2)
    assert profile.mean_length == 1.25
    assert profile.singled_out[0] == 2 / 4  # b and c, of all people, the one without items too


def test_groups_are_never_proposed_without_saying_what_they_leave_exposed() -> None:
    found = suggest(sparse(), sensitive=("i40",), purpose="share")
    protecting = [choice for choice in found.choices if "sensitive" in choice.policy.model.given()]
    tried = {choice.policy.model.name for choice in protecting} | {name.split()[0] for name, _ in found.rejected}
    assert {"degree", "k-anonymity", "coherence"} <= tried  # every model that protects them
    (groups,) = [choice for choice in protecting if choice.policy.model.name == "degree"]
    assert groups is not found.choices[0]
    assert "Not protected: records can be recognized" in groups.words()[-1]
    assert "--sensitive i40" in found.command(groups)
    others = [choice for choice in found.choices if choice not in protecting]
    assert all("sensitive items are published like all others" in choice.words()[-1] for choice in others)


@pytest.mark.parametrize("purpose", PURPOSES)
def test_the_purpose_sets_the_promise(purpose: str) -> None:
    found = suggest(sparse(n_records=600), hierarchy="fanout:5", purpose=purpose)
    best = found.choices[0]
    given = best.policy.model.given()
    assert given["k"] in (find_profile(PURPOSES[purpose].profile).k, PURPOSES[purpose].least)
    assert best.n_published > 1
    assert 1 <= len(found.choices) <= 3
    told = str(found)
    assert PURPOSES[purpose].words in told
    assert "of entries are published unchanged" in told
    assert "Residual risk: " in told and "of all people" in told
    assert all(found.command(choice) in told for choice in found.choices)
    assert "bad" not in (best.colour, best.risk_colour)  # never first what its own report would show red
    assert all(choice.colour != "bad" for choice in found.choices)


def test_a_release_of_one_item_is_no_choice() -> None:
    """Everybody has something that nobody else has: whatever is tried, one item is left for all."""
    with pytest.raises(
        InfeasibleError, match="With 3 people no release of these data is both safe and useful: publish counts"
    ):
        suggest(Transactions.from_lists([["a"], ["b"], ["c"]]), hierarchy="fanout:3")


def test_a_tiny_data_set_gets_a_no() -> None:
    tiny = Transactions.from_lists([["a"], ["a", "b"], ["b"], ["a", "b"]] * 2)
    with pytest.raises(InfeasibleError, match="k=10 needs at least 40 people with items; there are 8"):
        suggest(tiny, hierarchy="fanout:2")
    found = suggest(tiny, hierarchy="fanout:2", purpose="internal")
    assert found.choices[0].policy.model.given()["k"] == 2


def test_people_who_all_differ_get_a_no() -> None:
    """A hundred people with a handful of rare items each: whatever is safe keeps hardly anything."""
    draw = np.random.default_rng(3)
    rows = [[f"i{item}" for item in draw.choice(400, size=6, replace=False)] for _ in range(100)]
    with pytest.raises(InfeasibleError, match="With 100 people no release of these data is both safe and useful"):
        suggest(Transactions.from_lists(rows))


def test_a_chosen_profile_sets_k_and_is_in_the_command() -> None:
    found = suggest(sparse(n_records=600), hierarchy="fanout:5", profile="opensafely-7")
    given = found.choices[0].policy.model.given()
    assert given["k"] == 8
    assert "--profile opensafely-7" in found.command()
    assert found.policy().assessment.profile == "opensafely-7"


def test_reasons_of_rejection_are_true() -> None:
    """A rejected setting that is called worse has a lower score than the proposal."""
    found = suggest(sparse(n_records=600), hierarchy="fanout:5", purpose="internal")
    scores = [why.split(":")[0] for _, why in found.rejected if why.startswith("utility score")]
    for told in scores:
        own, best = (float(word) for word in told.replace("utility score ", "").split(", proposal "))
        assert own <= best
    assert all("keeps less" not in why for _, why in found.rejected)


def test_nobody_to_hide_among() -> None:
    with pytest.raises(InputError, match="it cannot be anonymized"):
        suggest(Transactions.from_lists([["a"], []]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"purpose": "fun"}, "purpose is one of publish, share, internal"),
        ({"sensitive": ("nope",)}, "no item of the list is in the data"),
        ({"sensitive": "i40"}, "not one string"),
        ({"hierarchy": "nowhere.csv"}, "nowhere.csv"),
    ],
)
def test_slips_are_named_before_the_long_work(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        suggest(sparse(), **options)  # type: ignore[arg-type]


def test_some_unknown_sensitive_items_are_a_warning() -> None:
    with pytest.warns(match='sensitive: "nope" not in the data'):
        suggest(sparse(), sensitive=("i40", "nope"), hierarchy="fanout:5")


def test_large_data_gets_a_first_proposal_from_a_sample() -> None:
    seen: list[Choice] = []
    data = sparse(n_records=9_000)
    found = suggest(data, hierarchy="fanout:5", purpose="internal", first=seen.append)
    assert len(seen) == 1
    assert 200 <= seen[0].n_tried < 9_000
    assert found.choices[0].n_tried == 9_000  # and improves on it with all records
    assert not found.choices[0].is_sampled


def test_what_was_rejected_is_told_with_the_reason() -> None:
    found = suggest(sparse(), hierarchy="fanout:5")
    assert found.rejected
    assert all(name.startswith(("km ", "k-anonymity ", "degree ")) and why for name, why in found.rejected)


def test_commands_are_quoted_and_complete() -> None:
    found = suggest(sparse(), hierarchy="fanout:5")
    odd = replace(found, source="my data.csv", given={"sensitive": None, "reading": {"delimiter": ";", "format": None}})
    words = shlex.split(odd.command(out="my release"))
    assert words[:5] == ["setveil", "anonymize", "my data.csv", "-o", "my release"]
    assert words[-2:] == ["--delimiter", ";"]
    assert odd.policy().input.delimiter == ";"


@pytest.mark.slow
def test_the_command_pasted_does_what_is_proposed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from setveil.io.transactions.writing import write_transactions

    monkeypatch.chdir(tmp_path)
    data = sparse()
    write_transactions(data, "my data.csv", replace(data.layout, name="long"))
    Path("secret.txt").write_text("i40\ni41\n")
    assert _run(["suggest", "my data.csv", "--hierarchy", "fanout:5", "--sensitive", "secret.txt"]) == 0
    commands = [line.strip()[2:] for line in capsys.readouterr().out.splitlines() if line.strip().startswith("$ ")]
    assert commands
    for number, command in enumerate(commands):
        words = shlex.split(command)
        words[words.index("-o") + 1] = f"out{number}"
        assert _run(words[1:]) == 0
        assert _run(["verify", f"out{number}", "--original", "my data.csv"]) == 0
    assert _run(["suggest", "my data.csv", "--hierarchy", "fanout:5", "--run", "-o", "out"]) == 0
    assert _run(["verify", "out"]) == 0


def test_with_many_items_the_first_proposal_needs_no_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    """Building a tree of tens of thousands of items, or weighing their merges, would come before any answer."""
    draw = np.random.default_rng(5)
    quick = [find("trim"), find("pcta+")]  # what comes after the first proposal takes its time
    monkeypatch.setattr(module, "proposed_for", lambda _: quick)
    common = [set(np.flatnonzero(draw.random(14) < 0.9).tolist()) for _ in range(1500)]  # which single out nobody
    rows = [row | {10**6 + 3 * person + own for own in range(3)} for person, row in enumerate(common)]
    data = sv.Transactions.from_lists([[str(item) for item in row] for row in rows])
    assert data.n_items > (find("pcta+").most_items or 0) and data.n_occurrences > SAMPLES[0]
    told: list[Choice] = []
    found = sv.suggest(data, purpose="internal", first=told.append)
    assert len(told) == 1 and told[0].n_tried < data.n_records
    assert told[0].policy.algorithm.name == "trim" and told[0].policy.hierarchy.source is None
    assert [why[:9] for name, why in found.rejected if "pcta" in name] == ["not tried"]


def test_the_command_repeats_options() -> None:
    """Leaving entries out along a given hierarchy without raising any is an option of trim."""
    search = sv.suggest(sv.generate("quest", D=300, T=4, N=20, L=20), hierarchy="fanout:4")
    options = {"raising": "none"}
    chosen = search.choices[0]
    algorithm = chosen.policy.algorithm.model_copy(update={"name": "trim", "options": options})
    command = search.command(replace(chosen, policy=chosen.policy.model_copy(update={"algorithm": algorithm})))
    assert "--algorithm trim --option raising=none --hierarchy fanout:4" in command


def test_a_code_system_is_the_hierarchy() -> None:
    chance = np.random.default_rng(3)
    codes = ["E11.9", "E10.1", "I10", "I25.1", "J45.0", "J18.9", "M54.5", "C50.9", "K21.0", "F32.1"]
    people = [[codes[item] for item in chance.choice(10, chance.integers(1, 4), replace=False)] for _ in range(400)]
    found = suggest(people, purpose="internal")
    assert found.reasons[0].startswith("The items look like ICD-10 codes (100 % of 10 distinct values, such as ")
    assert found.choices[0].policy.hierarchy.source == "icd10"
    mistyped = [["E11,9" if code == "E11.9" else code for code in record] for record in people]
    found = suggest(mistyped, purpose="internal")
    assert '"E11,9" (probably "E11.9")' in found.reasons[0]
    assert all(choice.policy.hierarchy.source != "icd10" for choice in found.choices)


def test_models_that_declare_it_are_tried_beside_km(monkeypatch: pytest.MonkeyPatch) -> None:
    def tried() -> set[str]:
        found = suggest(sparse(), purpose="share")
        return {choice.policy.model.name for choice in found.choices} | {name.split()[0] for name, _ in found.rejected}

    assert "k-anonymity" not in tried()
    monkeypatch.setattr(sv.KAnonymity, "suggested_from", 1)
    assert "k-anonymity" in tried()


def test_a_time_budget_that_is_too_short_says_nothing_about_the_data() -> None:
    def refused(rejected: list[tuple[str, str]]) -> module._Search:
        search = module._Search.__new__(module._Search)
        search.rejected, search.reasons = rejected, []
        return search

    late = [("km k=10 m=2", f"{TOOK_LONGER} 8 s"), ("km k=10 m=3", OUT_OF_TIME)]
    refusal = module._refusal(100, refused(late))
    assert "--seconds" in refusal and "safe and useful" not in refusal
    judged = [*late, ("km k=5 m=2", "residual risk high")]
    refusal = module._refusal(100, refused(judged))
    assert "safe and useful" in refusal and "km k=5 m=2: residual risk high." in refusal and "in time: 2." in refusal


def test_known_columns_get_the_hierarchy_that_their_values_suggest(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    rows = [
        f"{person},{'fm'[person % 2]},{20 + person % 60},{code}" for person in range(120) for code in ("E11", "I10")
    ]
    path.write_text("\n".join(["patient,sex,age,code", *rows]) + "\n")
    roles = {"person": "patient", "item": ["code"], "known_columns": ["sex", "age"]}
    found = sv.suggest(path, purpose="internal", source=str(path), **roles)
    assert found.command().endswith(
        "--person patient --item code --known-columns sex,age --column-hierarchy age=bands:5,10,20"
    )
    assert any("bands:5,10,20" in reason for reason in found.reasons)
    assert found.policy().columns["age"].hierarchy == "bands:5,10,20"
    stated = sv.suggest(path, purpose="internal", **roles, column_hierarchy={"age": "flat"})
    assert stated.command().endswith("--known-columns sex,age --column-hierarchy age=flat")


def test_a_chosen_profile_is_followed_by_models_without_k() -> None:
    """Average risk is red under a chosen profile, whatever the guarantee is about."""
    data = sv.generate("quest", D=300, T=5, N=40, L=30)
    found = sv.suggest(data, purpose="internal", profile="internal-3", sensitive=[data.vocabulary[0]])
    (choice,) = [choice for choice in found.choices if choice.policy.model.name == "uncertainty"]
    assert choice.policy.assessment.profile == "internal-3" and "--profile internal-3" in found.command(choice)


def test_records_published_empty_make_utility_poor_as_in_the_report() -> None:
    best = sv.suggest(sv.generate("quest", D=200, T=4, N=20, L=20), purpose="internal").choices[0]
    assert best.colour != "bad" and replace(best, empty=0.51).colour == "bad"


def test_tables_of_counts_are_tried_before_suggestions_say_no(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module._Search, "_aim", lambda *_: None)
    found = sv.suggest(sv.generate("quest", D=400, T=4, N=20, L=20), purpose="internal")
    assert found.choices[0].role == "Proposal" and found.choices[0].policy.model.name == "counts"


def test_nothing_is_proposed_where_every_report_would_be_red(tmp_path: Path) -> None:
    rows = [f"{visit},{visit // 2},{item}\n" for visit in range(60) for item in "abc"[: 1 + visit % 3]]
    (tmp_path / "visits.csv").write_text("".join(["visit,patient,item\n", *rows]))
    with pytest.warns(sv.SetveilWarning, match="visits"):
        data = sv.read(tmp_path / "visits.csv", person="visit", item="item")
    with pytest.raises(InfeasibleError, match="visits, not people; k counts records, so that no release can be"):
        sv.suggest(data, purpose="internal")
