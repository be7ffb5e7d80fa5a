"""Without a named algorithm k^m-anonymity takes what loses least."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import setveil as sv
import setveil.workflows.portfolio as portfolio
from setveil.algorithms import PORTFOLIO, default_for
from setveil.workflows.portfolio import WAYS, YARDSTICKS, figure_of

DATA = sv.generate("quest", D=400, T=5, I=3, N=40, L=20, seed=2)
MODEL = sv.KmAnonymity(k=4, m=2)


@pytest.mark.parametrize("yardstick", YARDSTICKS)
def test_the_smallest_figure_is_taken_and_the_losers_are_told(yardstick: str) -> None:
    release = sv.anonymize(DATA, MODEL, hierarchy="fanout:4", options={"yardstick": yardstick})
    told = release.details["portfolio"]
    assert {entry["algorithm"] for entry in told["tried"]} == {"trim", "optimal", "pcta+", "aa+refine"}
    best = min(told["tried"], key=lambda entry: entry["figure"])
    assert (best["algorithm"], best["options"]) == (told["chosen"], told["options"])
    assert release.record is not None and release.record.algorithm == told["chosen"]
    assert figure_of(DATA, replace(release, item_counts={}), yardstick) == best["figure"]
    assert sv.verify(release, MODEL).holds


@pytest.mark.parametrize("yardstick", YARDSTICKS)
def test_ways_of_raising_that_suit_the_yardstick_are_tried_and_leaving_the_hierarchy_aside_is_never_better(
    yardstick: str,
) -> None:
    release = sv.anonymize(DATA, MODEL, hierarchy="fanout:4", options={"yardstick": yardstick})
    tried = release.details["portfolio"]["tried"]
    ways = {row["options"]["raising"]: row["figure"] for row in tried if row["algorithm"] == "trim"}
    assert tuple(ways) == WAYS[yardstick]
    aside = sv.anonymize(DATA, MODEL, "trim", "fanout:4", options={"raising": "none"})
    assert ways["counts"] <= figure_of(DATA, aside, yardstick) < 1


def test_the_internal_report_shows_the_choice_and_the_losers(tmp_path: Path) -> None:
    release = sv.anonymize(DATA, MODEL, hierarchy="fanout:4")
    release.publish(tmp_path / "out")
    page = (tmp_path / "out.internal" / "report.html").read_text()
    told = release.details["portfolio"]
    assert "What was tried" in page and page.count("<td>used</td>") == 1
    assert all(f'<th scope="row">{entry["algorithm"]}' in page for entry in told["tried"])
    assert YARDSTICKS["counts"] in page
    assert "What was tried" not in (tmp_path / "out" / "report.html").read_text()


def test_there_is_no_other_default() -> None:
    assert PORTFOLIO == ("km",)
    with pytest.raises(AssertionError):
        default_for("km")


def test_no_hierarchy_is_needed_and_never_one_item_for_everything() -> None:
    release = sv.anonymize(DATA, sv.KmAnonymity(k=4, m=3))
    assert {entry["algorithm"] for entry in release.details["portfolio"]["tried"]} == {"trim", "pcta+", "aa+refine"}
    assert release.published.n_items > 1


def test_from_three_known_items_on_a_hierarchy_is_built_and_counts_of_items_are_used(tmp_path: Path) -> None:
    release = sv.anonymize(DATA, sv.KmAnonymity(k=4, m=3))
    told = release.details["portfolio"]
    (auto,) = (entry for entry in told["tried"] if entry["algorithm"] == "aa+refine")
    assert auto["options"] == {"hierarchy": "auto"} and auto["figure"] is not None
    assert figure_of(DATA, release, "counts") == min(entry["figure"] for entry in told["tried"])
    assert release.record is not None
    assert (release.record.hierarchy_source == "auto") == (told["chosen"] == "aa+refine")
    assert sv.verify_folder(release.publish(tmp_path / "out"), DATA).holds


def test_added_items_only_where_they_are_accepted() -> None:
    model = sv.KmAnonymity(k=4, m=3)
    release = sv.anonymize(DATA, model, options={"accept_added": True, "yardstick": "entries"})
    tried = [entry["algorithm"] for entry in release.details["portfolio"]["tried"]]
    assert tried[-1] == "weave" and release.verify().holds
    assert "weave" not in [c.algorithm for c in portfolio.candidates(DATA, "best", "counts", True, True)]


def test_too_many_itemsets_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(portfolio, "MOST_ITEMSETS", 1_000)
    with pytest.warns(sv.SetveilWarning, match="m=all"):
        release = sv.anonymize(DATA, MODEL, options={"effort": "fast"})
    assert release.details["portfolio"]["asked"] == "m=all"
    assert release.model == MODEL and sv.verify(release, "km", k=4, m="all").holds


def test_the_same_input_gives_the_same_choice() -> None:
    order = range(DATA.n_records - 1, -1, -1)
    lists = DATA.to_lists()
    once, again = (sv.anonymize(rows, MODEL) for rows in (lists, [lists[number] for number in order]))
    assert once.details["portfolio"]["chosen"] == again.details["portfolio"]["chosen"]
    assert sorted(map(sorted, once.transactions())) == sorted(map(sorted, again.transactions()))


def test_the_release_taken_explains_its_moves_as_the_algorithm_does(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = sv.anonymize(DATA, MODEL, algorithm="aa+refine", hierarchy="fanout:4")
    monkeypatch.setattr(portfolio, "candidates", lambda *_: [portfolio.Candidate("aa+refine", {})])
    taken = sv.anonymize(DATA, MODEL, hierarchy="fanout:4")
    assert alone.details["moves"] and taken.details["moves"] == alone.details["moves"]


@pytest.mark.parametrize("options", [{"effort": "much"}, {"yardstick": "beauty"}, {"tree_order": "leaves"}])
def test_unknown_options_are_refused(options: dict[str, str]) -> None:
    with pytest.raises(sv.InputError):
        sv.anonymize(DATA, MODEL, options=options)
