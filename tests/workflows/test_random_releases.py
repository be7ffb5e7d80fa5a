"""Releases of hostile labels: every layout in and out, every model, published and then checked as strangers and as the
owner would.
"""

from __future__ import annotations

import tempfile
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

import setveil as sv
from setveil.algorithms import ENTRIES
from setveil.core.columns import Column, Columns
from setveil.models import (
    Coherence,
    ConstraintAnonymity,
    KAnonymity,
    KKmAnonymity,
    KmAnonymity,
    PrivacyDegree,
    PrivacyModel,
)
from setveil.workflows.recheck import HIDDEN_QUOTES
from tests.naive.layouts import LAYOUTS, Records, can_hold, write_layout
from tests.strategies import hostile_labels, hostile_records

WRITTEN = ("fimi", "spmf", "long", "basket", "jsonl", "parquet")
SLOW = ("optimal", "gray-tsp", "lsh")


@st.composite
def models(draw: st.DrawFn, records: Records) -> PrivacyModel:
    """Any model, about items of the data and now and then about others."""
    labels = sorted({label for row in records for label in row})
    assume(len(labels) > 1)
    some = draw(st.lists(st.sampled_from(labels), min_size=1, max_size=len(labels) - 1, unique=True))
    match draw(st.integers(0, 5)):
        case 0:
            return KmAnonymity(k=2, m=draw(st.sampled_from([1, 2, "all"])))
        case 1:
            return KAnonymity(k=2, sensitive=draw(st.sampled_from([(), tuple(some[:1])])))
        case 2:
            strangers = draw(st.lists(hostile_labels(), max_size=2))
            return ConstraintAnonymity(k=2, constraints=[some, *([one] for one in strangers)], max_suppressed=100)
        case 3:
            return PrivacyDegree(p=2, sensitive=some[:2])
        case 4:
            return KKmAnonymity(k=2, m=draw(st.sampled_from([0, 1, 2, "all"])))
    return Coherence(h=draw(st.sampled_from([10, 60, 90])), k=2, p=2, sensitive=some[:1])


@st.composite
def runs(draw: st.DrawFn) -> tuple[Records, str, PrivacyModel, str | None, str | None, str | None, dict[str, Any]]:
    """Records, the layout they come in, a model, an algorithm, a hierarchy, the layout they go out in, options."""
    records = draw(hostile_records())
    layout = draw(st.sampled_from([name for name in (*LAYOUTS, "lists") if can_hold(name, records)]))
    model = draw(models(records))
    entries = [entry for entry in ENTRIES if model.name in entry.models and entry.name not in SLOW]
    entry = draw(st.sampled_from(entries))
    tree = draw(st.sampled_from(["fanout:2", "auto"])) if entry.hierarchy == "required" else None
    to = None if model.name == "degree" else draw(st.sampled_from(WRITTEN))
    return records, layout, model, entry.name, tree, to, {"safe_csv": draw(st.booleans()), "accept_guessable": True}


@settings(max_examples=30 if settings().max_examples < 1000 else 1000)
@given(run=runs())
def test_whatever_is_published_is_accepted_by_strangers_and_by_its_owner(run: Any) -> None:
    records, layout, model, algorithm, tree, to, options = run
    with tempfile.TemporaryDirectory() as place, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        source: Any = records
        reading: dict[str, Any] = {}
        if layout != "lists":
            source = Path(place) / f"input.{layout}"
            reading = write_layout(layout, records, source)
        try:
            data = sv.read(source, **reading)
            release = sv.anonymize(source, model, algorithm, tree, read_options=reading)
        except (sv.InputError, sv.InfeasibleError) as problem:
            event(f"refused: {type(problem).__name__}")
            return
        try:
            out = release.publish(Path(place) / "out", to=to, **options)
        except (sv.InputError, sv.InfeasibleError) as problem:
            event(f"not written: {type(problem).__name__}")
            return
        event(f"{model.name} {layout} to {to}")
        assert data.n_records == len(records)
        stranger = sv.verify_folder(out)
        assert stranger.holds is not False, stranger.problems
        owner = sv.verify_folder(out, source, **reading)
        assert owner.holds is True, (owner.problems, owner.unchecked)


def test_a_suppressed_item_without_name_does_not_change_the_numbers_of_others(tmp_path: Path) -> None:
    records = [["2"], ["10"], ["2"], ["a "], [], ["10"], ["10"], [], []]
    model = Coherence(h=10, k=2, p=2, sensitive=["2"])
    release = sv.anonymize(records, model, "mm", options={"loss": "items"})
    for to in WRITTEN:
        out = release.publish(tmp_path / to, to=to)
        assert (out / "codebook.csv").read_text() == "published_item,item\n2,2\n10,10\n"
        assert sv.verify_folder(out, records).holds


@pytest.mark.parametrize("strange", ["x*", "a?", "[ab]", "[a", "[*]", "@subtree:a", "a[*]"])
def test_labels_that_look_like_patterns_are_labels_in_the_policy_of_a_run(tmp_path: Path, strange: str) -> None:
    records = [["a", "b"], ["a"], ["b", "a[*]"], ["a", "b"]] * 3
    with pytest.warns(sv.SetveilWarning) if strange != "a[*]" else warnings.catch_warnings():
        model = ConstraintAnonymity(k=2, constraints=[["a"], [strange]], max_suppressed=100)
        out = sv.anonymize(records, model).publish(tmp_path / "out")
    checked = sv.verify_folder(out, records)
    assert checked.holds, checked.problems


def test_files_that_do_not_say_what_the_original_gives_are_not_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A codebook whose items change places breaks no claim; only the owner can see it."""
    from setveil.io.releases import files

    def exchanged(release: Any) -> Any:
        pieces = b"".join(encode(release)).replace(b"a,a\n", b"?").replace(b"b,b\n", b"b,a\n").replace(b"?", b"a,b\n")
        return iter([pieces])

    from setveil.io.releases import canonical

    encode = canonical.encode_codebook  # type: ignore[attr-defined]
    monkeypatch.setattr(canonical, "encode_codebook", exchanged)
    release = sv.anonymize([["a"], ["a"], ["a"], ["b"], ["b"]], KmAnonymity(k=2, m=1), "trim")
    with pytest.raises(sv.GuaranteeError, match="not published"):
        release.publish(tmp_path / "out", to="jsonl")
    assert not list(tmp_path.iterdir())
    assert files is not None


@st.composite
def people_with_columns(draw: st.DrawFn) -> tuple[Records, dict[str, list[str | None]], dict[str, str]]:
    """Records, columns of hostile values, some of them missing, and the role of each column."""
    records = draw(hostile_records())
    roles = draw(st.lists(st.sampled_from(["known", "known", "sensitive", "carry"]), min_size=1, max_size=3))
    columns = {}
    for number, _ in enumerate(roles):
        values = draw(st.lists(hostile_labels(), min_size=1, max_size=3, unique=True))
        columns[f"c{number}"] = [draw(st.sampled_from([None, *values])) for _ in records]
    return records, columns, dict(zip(columns, roles, strict=True))


@settings(max_examples=15 if settings().max_examples < 1000 else 1000)
@given(people=people_with_columns(), m=st.sampled_from([0, 1, 2, "all"]), to=st.sampled_from([None, "long", "jsonl"]))
def test_releases_with_columns_are_accepted_by_strangers_and_by_their_owner(
    people: Any, m: Any, to: str | None
) -> None:
    records, columns, roles = people
    made = [Column.of(name, roles[name], cells) for name, cells in columns.items()]
    data = replace(sv.Transactions.from_lists(records), columns=Columns(tuple(made)))
    with tempfile.TemporaryDirectory() as place, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            release = sv.anonymize(data, "kkm", k=2, m=m)
            out = release.publish(Path(place) / "out", to=to)
        except (sv.InputError, sv.InfeasibleError) as problem:
            event(f"refused: {type(problem).__name__}")
            return
        event(f"published with m={m} to {to}")
        stranger = sv.verify_folder(out)
        assert stranger.holds is True or stranger.unchecked == (HIDDEN_QUOTES,), (stranger.problems, stranger.unchecked)
        owner = sv.verify_folder(out, data)
        assert owner.holds is True, (owner.problems, owner.unchecked)
