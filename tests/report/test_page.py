"""``report.html``: what is on the page, for every kind of release, inside and outside the house."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import setveil as sv
from setveil.core import Hierarchy, Transactions, Vocabulary
from setveil.releases import Grouping, LocalRecoding, Recoding, Release, Replacement, RunRecord
from setveil.report.charts import bars, curve
from setveil.report.page import write_report
from setveil.report.record import facts_of
from setveil.workflows.publish import publish

NASTY = ("<script>alert(1)</script>", 'quo"te', "apos'trophe", "a&amp;b", "</details>", "{{ facts }}", "ü…")
ROWS = [["apple", "pear", "flu"], ["apple", "plum"], ["pear", "kale"], ["kale", "leek"], ["leek", "apple"], []] * 4
TREE = Hierarchy.from_paths(
    [(item, "fruit", "all") for item in ("apple", "pear", "plum")]
    + [(item, "greens", "all") for item in ("kale", "leek", "cress")]
    + [("flu", "illness", "all")]
)


def with_record(release: Release, data: Transactions, model: Any, hierarchy: Hierarchy | None = None) -> Release:
    record = RunRecord(
        data=data,
        model=model,
        algorithm="by-hand",
        options={"care": "great"},
        hierarchy=hierarchy,
        hierarchy_source="given" if hierarchy else "",
        seed=424242,
        warnings=("a warning for the owner",),
    )
    return replace(release, record=record)


def recoding(rows: list[list[str]] = ROWS) -> Release:
    """Fruit becomes fruit, flu goes, the rest stays."""
    data = Transactions.from_lists(rows)
    cut = np.arange(TREE.n_items)
    fruit, flu = TREE.labels.index("fruit"), TREE.labels.index("flu")
    cut[TREE.leaves(fruit)] = fruit
    cut[flu] = -1
    details = {"moves": [{"raised": ["fruit"], "witness": ["pear", "kale"], "support": 4, "cost": 0.1}]}
    return with_record(Recoding.from_cut(data, TREE, cut, details), data, sv.KmAnonymity(k=4, m=2), TREE)


def clusters() -> Release:
    data = Transactions.from_lists(ROWS)
    numbers = [{"apple": 0, "pear": 0, "plum": 0, "flu": 0, "kale": 1, "leek": 1}[label] for label in data.vocabulary]
    model = sv.ConstraintAnonymity(k=4, constraints=[["apple", "plum"], ["kale"]])
    return with_record(Recoding.from_clusters(data, np.array(numbers)), data, model)


def local_recoding() -> Release:
    """Apples stay in the first record of each six and are fruit elsewhere; flu goes."""
    data = Transactions.from_lists(ROWS)
    fruit, greens = TREE.labels.index("fruit"), TREE.labels.index("greens")
    leaf = TREE.leaf_of_items(data.vocabulary)
    nodes = []
    for owner, item in zip(data.owners.tolist(), data.items.tolist(), strict=True):
        label = data.vocabulary[item]
        if label == "flu":
            nodes.append(-1)
        elif label == "apple" and owner % 6 == 0:
            nodes.append(int(leaf[item]))
        else:
            nodes.append(fruit if label in ("apple", "pear", "plum") else greens)
    release = LocalRecoding.from_nodes(data, TREE, np.array(nodes))
    return with_record(release, data, sv.KmAnonymity(k=4, m=2), TREE)


def replacement(sensitive: tuple[str, ...] = ("flu",)) -> Release:
    """Three classes, one with an empty centre; all with flu are in the first, and nobody else is."""
    data = Transactions.from_lists(ROWS)
    class_of = np.array([0, 0, 1, 1, 1, 2] * 4)
    if sensitive:
        class_of = np.array([0, 1, 1, 1, 1, 2] * 4)
    centres = Transactions.from_lists([["apple"], ["kale", "leek"], []])
    centres = centres.over(data.vocabulary)
    release = Replacement.from_centres(data, class_of, centres, sensitive)
    return with_record(release, data, sv.KAnonymity(k=4, sensitive=sensitive))


def grouping() -> Release:
    data = Transactions.from_lists([row or ["kale"] for row in ROWS])  # groups publish nobody without public items
    groups = np.repeat(np.arange(4), 6)
    return with_record(Grouping.from_groups(data, groups, ["flu"]), data, sv.PrivacyDegree(p=6, sensitive=["flu"]))


KINDS: Mapping[str, Callable[[], Release]] = {
    "recoding": recoding,
    "clusters": clusters,
    "local-recoding": local_recoding,
    "replacement": replacement,
    "grouping": grouping,
}


def pages(release: Release, folder: Path, **options: Any) -> tuple[str, str]:
    """The public and the internal page."""
    outcome = publish(release, folder / "out", input_facts={"name": "secret.dat", "sha256": "f" * 64}, **options)
    return tuple((where / "report.html").read_text(encoding="utf-8") for where in (outcome.path, outcome.internal))  # type: ignore[return-value]


class Reader(HTMLParser):
    """Checks nesting and collects what the tests ask for."""

    VOID = ("meta", "input")

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.headings: list[int] = []
        self.ids: list[str] = []
        self.targets: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(page)
        self.close()
        assert not self.open
        self.text = " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.append((tag, given))
        if tag not in self.VOID:
            self.open.append(tag)
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if given.get("id"):
            self.ids.append(str(given["id"]))
        if tag == "a":
            self.targets.append(str(given["href"]))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("style", "script"):
            self.words.append(data)


@pytest.mark.parametrize("kind", KINDS)
def test_both_versions_are_sound_pages(kind: str, tmp_path: Path) -> None:
    for page in pages(KINDS[kind](), tmp_path):
        read = Reader(page)
        assert page.startswith("<!DOCTYPE html>\n")
        assert read.headings[0] == 1
        assert read.headings.count(1) == 1
        assert all(after <= before + 1 for before, after in zip(read.headings, read.headings[1:], strict=False))
        assert len(set(read.ids)) == len(read.ids)
        beside = {"assessment.html"} if "internal report" in page else set()  # the one file that it points to
        assert {target for target in read.targets if target[0] != "#"} == beside
        assert {target[1:] for target in read.targets if target[0] == "#"} <= set(read.ids)
        assert not re.search(r"(?:src|href)=\"(?!#|assessment\.html\")|url\(|@import|https?:", page)
        for tag, given in read.tags:
            if tag == "svg":
                assert given.get("aria-label") or given.get("aria-hidden") == "true"
            assert not any(name.startswith("on") for name in given)
        assert "Guarantee met" in read.text
        assert (
            read.text.index("Utility") < read.text.index("What is not protected") < read.text.index("The attacker has")
        )
        assert "style=" not in page
        for title in (
            "not protected",
            "analyses are valid",
            "What was changed",
            "Parameters",
            "Alternatives",
            "Glossary",
        ):
            assert title in read.text


@pytest.mark.parametrize("kind", KINDS)
def test_the_public_page_keeps_what_is_internal(kind: str, tmp_path: Path) -> None:
    public, internal = pages(KINDS[kind](), tmp_path)
    both = ("certificate.json", "setveil verify FOLDER", "by-hand")
    inside = ("424242", "secret.dat", "f" * 64, "a warning for the owner", "care", "for internal use only", "before")
    for words in both:
        assert words in public
        assert words in internal
    shown = Reader(public).text
    for words in inside:
        assert words in Reader(internal).text
        assert words not in shown
    for part in ('id="examples"', 'id="histograms"', 'id="run"', "The run"):
        assert part in internal
        assert part not in public


def test_a_recoding_shows_what_stands_for_what(tmp_path: Path) -> None:
    public, internal = (Reader(page).text for page in pages(recoding(), tmp_path))
    assert (
        "different items in the original 6 of them published unchanged 2 published as a category 3 "
        "suppressed in all records 1" in internal
    )
    assert "fruit 3 items apple, pear, plum 24 16" in internal  # original occurrences, published records
    assert "generalized to fruit pear + kale 4" in internal
    assert "flu 4" in internal  # left out so often
    assert "fruit 3 16" in public  # items behind it, records with it
    for item in ("apple", "pear", "plum", "flu"):
        assert item not in public
    assert "different labels published 3 of them cover several items 1" in public
    # cress does not occur, flu was left out: the codebook has no published item for either
    assert "2 items of the codebook have no label" in public
    assert "up to 2 items of a person" in public
    # branches of the hierarchy: fruit costs 24 * 3 / 7, flu 4, greens nothing
    fruit, flu = 24 * 3, 4 * 7
    assert f"fruit 3 0 3 0 24 {100 * fruit / (fruit + flu):.1f} %" in internal
    assert f"illness 1 0 0 1 4 {100 * flu / (fruit + flu):.1f} %" in internal
    assert "greens 2 2 0 0 16 0.00 %" in internal


def test_integer_files_show_their_integers_with_the_names_beside(tmp_path: Path) -> None:
    public, internal = (Reader(page).text for page in pages(recoding(), tmp_path, to="fimi"))
    number = re.search(r"(\d+) \(fruit\) 3 items", internal)
    assert number
    assert f"{number[1]} 3 16" in public
    assert "fruit" not in public
    published = (tmp_path / "out" / "published.dat").read_text().split()
    assert published.count(number[1]) == 16


def test_clusters_are_shown_and_constraints_stay_inside(tmp_path: Path) -> None:
    public, internal = (Reader(page).text for page in pages(clusters(), tmp_path))
    assert "apple or flu or pear or plum 4 items apple, flu, pear, plum 28 16" in internal
    assert "{apple, plum}" in internal
    assert "{" not in public
    assert "listed as privacy constraints" in public


def test_a_local_recoding_counts_occurrences(tmp_path: Path) -> None:
    public, internal = (Reader(page).text for page in pages(local_recoding(), tmp_path))
    assert (
        "different items in the original 6 unchanged in all records 0 unchanged in some records 1 "
        "published only as a category 4 suppressed in all records 1 "
        "entries in the original 44 of them published unchanged 4 suppressed 4" in internal
    )
    assert "Comparing counts of labels at different levels" in public
    assert "Absence: single entries may be suppressed" in public


def test_a_replacement_tells_class_sizes_empty_centres_and_homogeneity(tmp_path: Path) -> None:
    public, internal = (Reader(page).text for page in pages(replacement(), tmp_path))
    for text in (public, internal):
        assert "3 classes, with 4 to 16 records (4 in the middle)" in text
        assert "1 of them, with 4 records, have an empty centre" in text
        assert "k-anonymity does not hide them" in text
        assert "In 1 of 3 classes every record has the same sensitive item; in 1 more than half have" in text
        assert "largest share is 100.0 %" in text
    assert "Most items were lost" in internal
    assert "k^m-anonymity" in public
    assert "local recoding" in public
    assert "plum 4 0" in internal  # records before and after
    assert "plum" not in public


def test_without_sensitive_items_the_page_says_what_that_means(tmp_path: Path) -> None:
    public, _ = (Reader(page).text for page in pages(replacement(()), tmp_path))
    assert "No item was named as sensitive" in public
    assert "Counts of sensitive items are exact" not in public


def test_a_grouping_tells_groups_and_sensitive_counts(tmp_path: Path) -> None:
    public, internal = (Reader(page).text for page in pages(grouping(), tmp_path))
    for text in (public, internal):
        assert "4 groups of 6 to 6 records" in text
        assert "flu 4 16.7 %" in text
        assert "nobody is linked to a sensitive item with a probability above 16.7 %" in text
        assert "Counts of sensitive items are exact" in text
    assert "in a group of 6 records with flu: 1" in internal


def test_suppressed_sensitive_items_make_totals_lower_bounds(tmp_path: Path) -> None:
    release = replace(grouping(), details={"suppressed_occurrences": {"flu": 3}})
    assert release.record is not None
    release = replace(release, record=replace(release.record, options={"suppress_excess": True}))
    public, internal = (Reader(page).text for page in pages(release, tmp_path))
    assert "are lower bounds" in public
    assert "are exact, in total and per group" not in public
    assert "flu 3" in internal
    assert "flu 3" not in public


def test_labels_cannot_break_out_of_the_page(tmp_path: Path) -> None:
    rows = [[*NASTY[:4]], [*NASTY[4:]], [NASTY[0], NASTY[5]]] * 5
    data = Transactions.from_lists(rows)
    numbers = np.array([0 if label in NASTY[:3] else 1 for label in data.vocabulary])
    releases = [
        with_record(Recoding.from_clusters(data, numbers), data, sv.KmAnonymity(k=5, m=2)),
        with_record(
            Grouping.from_groups(data, np.arange(15) // 15, NASTY[1:5:3]), data, sv.PrivacyDegree(2, NASTY[1:5:3])
        ),
        with_record(
            Replacement.from_centres(data, np.zeros(15, dtype=int), data.select(np.array([1])), NASTY[:1]),
            data,
            sv.KAnonymity(5, sensitive=NASTY[:1]),
        ),
    ]
    for number, release in enumerate(releases):
        (tmp_path / str(number)).mkdir()
        for page in pages(release, tmp_path / str(number), to=None if isinstance(release, sv.Grouping) else "jsonl"):
            read = Reader(page)
            assert page.count("<script>") == 1
            assert page.count("</script>") == 1
            if "Confidential" in page:
                assert NASTY[0] in read.text
                assert NASTY[5] in read.text


def test_thousands_of_items_stay_a_small_page(tmp_path: Path) -> None:
    labels = [f"{number:06d}" + '<"&' * 100 for number in range(16_000)]
    rows = [labels[start::1_600] for start in range(1_600)]  # ten items each
    data = Transactions.from_lists(rows * 2)
    release = with_record(Recoding.from_clusters(data, np.arange(16_000) // 40), data, sv.KmAnonymity(k=2, m=1))
    moves = [{"raised": [label], "witness": labels[:3], "support": 1} for label in labels]
    for page in pages(replace(release, details={"moves": moves}), tmp_path):
        assert len(page.encode()) < 1_000_000  # although nearly every character takes five
        assert "The first 300 of 400." in Reader(page).text
    assert "The first 100 of 16,000 steps" in Reader(page).text


def test_items_that_lose_all_their_records_fit_as_well(tmp_path: Path) -> None:
    """Empty data, one class, nothing published."""
    data = Transactions.from_lists([["a"], ["b"], []] * 2)
    nothing = Transactions.from_pairs([], [], 1, Vocabulary(["a", "b"]))
    release = Replacement.from_centres(data, np.zeros(6, dtype=int), nothing)
    public, internal = pages(with_record(release, data, sv.KAnonymity(k=6)), tmp_path)
    assert "have an empty centre" in public
    assert "(empty)" in internal
    gone = Recoding.from_clusters(data, np.array([-1, -1]))
    (tmp_path / "more").mkdir()
    public, internal = pages(with_record(gone, data, sv.KmAnonymity(k=2, m=2)), tmp_path / "more")
    assert "suppressed in all records 2" in Reader(internal).text


def test_the_same_facts_give_the_same_bytes(tmp_path: Path) -> None:
    release = recoding()
    assert release.record is not None
    risk = sv.risk(release.record.data).to_dict()
    labels = release.published.vocabulary.labels
    written = []
    for name in ("one", "two"):
        facts = facts_of(release, labels, True, {"smallest_support": 4}, {"ncp": 0.123456789}, risk, risk)
        write_report(facts, tmp_path / name)
        write_report(facts.public(), tmp_path / f"{name}-public")
        written.append([(tmp_path / name).read_bytes(), (tmp_path / f"{name}-public").read_bytes()])
    assert written[0] == written[1]
    assert b"0.1235" in written[0][0]
    assert b"0.1235" not in written[0][1]


MODELS = {
    "any 2 items of a person, or fewer": sv.KmAnonymity(k=3, m=2),
    "any number of items of a person": sv.KmAnonymity(k=3, m="all"),
    "with at least 2 distinct sensitive items among them": sv.KAnonymity(k=3, sensitive=["flu"], l=2),
    "the probability of the right record is at most 1 in 7": sv.ConstraintAnonymity(k=7, constraints=[["apple"]]),
    "at most one in 9 records": sv.PrivacyDegree(p=9, sensitive=["flu"]),
    "at most 12.5 % share any one sensitive item": sv.Coherence(h=12.5, k=3, p=2, sensitive=["flu"]),
}


@pytest.mark.parametrize("words", MODELS)
@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
def test_every_model_has_its_attacker_with_every_kind(words: str, make: Callable[[], Release], tmp_path: Path) -> None:
    release = make()
    assert release.record is not None
    release = replace(release, record=replace(release.record, model=MODELS[words]))
    risk = sv.risk(release.record.data).to_dict()
    facts = facts_of(release, release.published.vocabulary.labels, True, {}, {}, risk, risk)
    for version in (facts, facts.public(), replace(facts, hidden_options=("constraints",)).public()):
        write_report(version, tmp_path / "page")
        text = Reader((tmp_path / "page").read_text()).text
        assert words in text
        for line in facts.not_protected:
            assert line in text


def test_a_broken_guarantee_is_said_first(tmp_path: Path) -> None:
    release = recoding()
    assert release.record is not None
    risk = sv.risk(release.record.data).to_dict()
    write_report(facts_of(release, release.published.vocabulary.labels, False, {}, {}, risk, risk), tmp_path / "page")
    text = Reader((tmp_path / "page").read_text()).text
    assert text.index("Guarantee not met") < text.index("Anyone who knows")
    assert "Guarantee met" not in text


def test_a_curve_places_its_points_and_says_its_figures() -> None:
    chart = curve([("be<fore", [(1, 0.0), (2, 1.0)], "before"), ("after", [(1, 0.5)], "after")], "x", "y", 'a "chart"')
    read = Reader(chart)
    assert [given["aria-label"] for tag, given in read.tags if tag == "svg"] == ['a "chart"']
    points = [given for tag, given in read.tags if tag == "g"]
    assert [point["aria-label"] for point in points] == [
        "be<fore: 0.00 % at 1",
        "be<fore: 100.00 % at 2",
        "after: 50.00 % at 1",
    ]
    assert all(point["tabindex"] == "0" for point in points)
    low, high = (float(str(given["y"])) for tag, given in read.tags if tag == "rect")
    (middle,) = (float(str(given["cy"])) for tag, given in read.tags if tag == "circle")
    assert low > high
    assert middle == pytest.approx((low + high) / 2 + 4.5)
    assert curve([], "x", "y", "nothing") == ""


@pytest.mark.parametrize("highest", [1, 3, 5, 6, 9, 10, 11, 99, 100, 501, 12_345])
def test_bars_are_as_high_as_their_counts(highest: int) -> None:
    chart = bars(
        [("before", [highest, 1], "before"), ("after", [0, highest], "after")], ["0", "1"], "x", "y", "a chart"
    )
    heights = [float(str(given["height"])) for tag, given in Reader(chart).tags if tag == "rect"]
    assert len(heights) == 3  # nothing is drawn for 0
    assert heights[0] == heights[2]
    assert heights[1] * highest == pytest.approx(heights[0], abs=0.06 * highest)
    assert max(heights) <= 250 - 44 - 24 + 0.1
    assert f"after: {highest:,} at 1" in chart
    assert bars([("before", [0], "before")], ["0"], "x", "y", "nothing") == ""
