"""Release folders made to mislead: hashes and digest are right, something else is not. None of them holds."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import setveil as sv
from setveil.core import Transactions
from setveil.report.certificate import seal, write_json
from setveil.workflows.folder import attack_folder
from setveil.workflows.recheck import FolderVerdict, verify_folder

RECORDS = [["a", "b"], ["a", "c"], ["b", "c"], ["a", "b", "c"], ["d"], ["d", "a"]] * 5
SECRETS = [["a", "s"], ["a"], ["c"], ["d"], ["a", "b"], ["b", "c"], ["c", "d"], ["d", "t"]] * 4


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One intact folder per kind and layout; tests change copies."""
    place = tmp_path_factory.mktemp("intact")
    recoded = sv.anonymize(RECORDS, sv.KmAnonymity(k=3, m=2), "aa", "fanout:2")
    for layout in ("long", "basket", "jsonl", "parquet", "fimi"):
        recoded.publish(place / layout, to=layout)
    sv.anonymize(RECORDS, sv.KAnonymity(k=3), "pta").publish(place / "replaced", to="jsonl")
    grouped = sv.Grouping.from_groups(Transactions.from_lists(SECRETS), np.arange(len(SECRETS)) // 8, ["s", "t"])
    like = sv.anonymize(SECRETS, sv.PrivacyDegree(p=4, sensitive=["s", "t"]), "random")
    from dataclasses import replace

    replace(grouped, record=like.record).publish(place / "grouped")
    model = sv.ConstraintAnonymity(k=3, constraints=[["a", "b"], ["c"]], max_suppressed=100)
    constrained = sv.anonymize(RECORDS, model, "pcta")
    constrained.publish(place / "constrained", to="jsonl", publish_constraints=True)
    constrained.publish(place / "hidden", to="jsonl")
    sv.anonymize(RECORDS, sv.KmAnonymity(k=3, m=2), "trim").publish(place / "trimmed", to="jsonl")
    recoded.publish(place / "ordered", to="jsonl", keep_order=True)
    guessable = sv.anonymize(SECRETS, sv.PrivacyDegree(p=4, sensitive=["s", "t"]), "nn")
    guessable.publish(place / "guessable", accept_guessable=True)
    coherent = sv.Coherence(h=80, k=3, p=1, sensitive=["s", "t"])
    sv.anonymize(SECRETS, coherent, "mm").publish(place / "coherent", to="jsonl")
    return {path.name: path for path in place.iterdir()}


Change = Callable[[Path], None]


def forged(folders: dict[str, Path], name: str, tmp_path: Path, change: Change) -> FolderVerdict:
    """A copy with something changed, and every hash set right again."""
    folder = tmp_path / "out"
    shutil.copytree(folders[name], folder)
    change(folder)
    certificate = json.loads((folder / "certificate.json").read_text())
    for file in certificate["files"]:
        is_small = (folder / file).exists() and (folder / file).stat().st_size < 2**30
        if is_small and (folder / file).is_file() and not (folder / file).is_symlink():
            certificate["files"][file] = hashlib.sha256((folder / file).read_bytes()).hexdigest()
    write_json(seal(certificate), folder / "certificate.json")
    checked = verify_folder(folder)
    assert all(len(line) <= 300 and "\n" not in line for line in (*checked.problems, *checked.unchecked))
    return checked


def certificate_with(*path: str, to: Any) -> Change:
    def change(folder: Path) -> None:
        file = folder / "certificate.json"
        certificate = json.loads(file.read_text())
        part = certificate
        for key in path[:-1]:
            part = part[int(key)] if isinstance(part, list) else part[key]
        last: Any = int(path[-1]) if isinstance(part, list) else path[-1]
        if to is ...:
            del part[last]
        else:
            part[last] = to
        file.write_text(json.dumps(certificate))

    return change


def redrawn(*changes: Change) -> Change:
    """What was changed, with the page that such a certificate has."""

    def change(folder: Path) -> None:
        from setveil.algorithms import by_kind
        from setveil.report.page import write_report
        from setveil.report.record import public_facts
        from setveil.workflows.folder import read_folder

        for one in changes:
            one(folder)
        certificate = json.loads((folder / "certificate.json").read_text())
        others = by_kind(certificate["model"]["name"])
        write_report(public_facts(certificate, read_folder(folder, certificate), others), folder / "report.html")

    return change


def sentence(number: int, to: Any) -> Change:
    return redrawn(certificate_with("not_protected", str(number), to=to))


def text_with(file: str, old: str, new: str) -> Change:
    def change(folder: Path) -> None:
        text = (folder / file).read_bytes().decode()
        assert old in text, (old, text[:300])
        (folder / file).write_bytes(text.replace(old, new, 1).encode())

    return change


def lines_swapped(file: str, first: int, second: int) -> Change:
    def change(folder: Path) -> None:
        lines = (folder / file).read_bytes().splitlines(keepends=True)
        assert lines[first] != lines[second]
        lines[first], lines[second] = lines[second], lines[first]
        (folder / file).write_bytes(b"".join(lines))

    return change


def extra_file(folder: Path) -> None:
    (folder / "raw.csv").write_text("everything\n")
    certificate = json.loads((folder / "certificate.json").read_text())
    certificate["files"]["raw.csv"] = "0" * 64
    (folder / "certificate.json").write_text(json.dumps(certificate))


def linked(to: str) -> Change:
    def change(folder: Path) -> None:
        (folder / "codebook.csv").unlink()
        (folder / "codebook.csv").symlink_to(to)

    return change


def piped(folder: Path) -> None:
    (folder / "codebook.csv").unlink()
    os.mkfifo(folder / "codebook.csv")


def sparse(folder: Path) -> None:
    """A few bytes that say they are many."""
    os.truncate(folder / "published.jsonl", 2**40)


def zipped(folder: Path) -> None:
    file = folder / "published.jsonl"
    file.write_bytes(gzip.compress(file.read_bytes()))


def test_intact_folders_hold(folders: dict[str, Path], tmp_path: Path) -> None:
    for name, folder in folders.items():
        if name.endswith(".internal"):
            continue
        checked = verify_folder(folder)
        wanted = None if name == "hidden" else True
        assert checked.holds is wanted, (name, checked.problems, checked.unchecked)
        again = forged(folders, name, tmp_path / name, lambda folder: None)
        assert again.holds is wanted


def test_the_sentence_is_that_of_the_model_that_was_checked(folders: dict[str, Path]) -> None:
    assert verify_folder(folders["jsonl"]).sentence == sv.KmAnonymity(k=3, m=2).guarantee()


CLAIMS: list[tuple[str, Change, str]] = [
    ("jsonl", certificate_with("guarantee", to="Nobody finds fewer than 50 records."), "sentence of this model"),
    ("jsonl", certificate_with("verified", to=False), "verified"),
    ("jsonl", certificate_with("schema", to=0), "schema"),
    ("jsonl", certificate_with("model", "options", "k", to=-5), "k must be"),
    ("jsonl", certificate_with("model", "options", "k", to=30), "occurs in"),
    ("jsonl", certificate_with("model", "options", "k", to=2), "sentence of this model"),
    ("jsonl", certificate_with("model", "options", "k", to=3.0), "whole number"),
    ("jsonl", certificate_with("model", "options", "k", to=10**30), "k is too large"),
    ("guessable", certificate_with("model", "options", "p", to=10**30), "p is too large"),
    ("jsonl", certificate_with("model", "options", "extra", to=1), "no option"),
    ("jsonl", certificate_with("model", "options", "m", to=...), "needs m"),
    ("jsonl", certificate_with("model", "options", to={"k": [], "m": {}}), "whole number"),
    ("jsonl", certificate_with("extra", to="a note"), "extra"),
    ("jsonl", certificate_with("release", "extra", to="a note"), "extra"),
    ("jsonl", certificate_with("release", "kind", to="replacement"), ""),
    ("jsonl", certificate_with("release", "kind", to="grouping"), ""),
    ("jsonl", certificate_with("release", "published", to="report.html"), "not one of its files"),
    ("jsonl", certificate_with("records", to=10**25), "records"),
    ("jsonl", certificate_with("records", to=29), "differs from the published one"),
    ("jsonl", certificate_with("record_ids", to=True), ""),
    ("jsonl", certificate_with("achieved", "smallest_support", to=50), "achieved"),
    ("jsonl", certificate_with("achieved", "looks", to=50), "no figure"),
    ("jsonl", certificate_with("metrics", "looks", to=50), "no figure"),
    ("jsonl", certificate_with("risk", "after", "0", "singled_out", to=0.001), "risk"),
    ("jsonl", certificate_with("risk", "after", to=[]), "risk"),
    ("jsonl", certificate_with("not_protected", to=["Everything is protected."]), "not_protected"),
    ("jsonl", text_with("report.html", "</title>", "!</title>"), "report.html: is not the page"),
    ("jsonl", extra_file, "raw.csv"),
    ("grouped", certificate_with("files", "sensitive.csv", to=...), "sensitive.csv"),
    ("jsonl", certificate_with("verified", to=1), "verified"),
    ("jsonl", certificate_with("schema", to=1.0), "schema"),
    ("jsonl", certificate_with("schema", to=True), "schema"),
    ("jsonl", certificate_with("records", to=30.0), "records"),
    ("jsonl", certificate_with("metrics", "empty_records", to=0.0), "metrics"),
    ("jsonl", certificate_with("metrics", to={}), "metrics"),
    ("replaced", certificate_with("achieved", "smallest_class", to=3.0), "achieved"),
    ("replaced", certificate_with("release", "suppression", to=True), "missing from a replacement"),
    ("trimmed", certificate_with("achieved", to={}), "achieved"),
    ("trimmed", certificate_with("risk", "after", "3", "exact", to=False), "risk"),
    ("trimmed", certificate_with("release", "suppression", to=False), ""),
    ("coherent", certificate_with("model", "options", "h", to=10), ""),
    ("coherent", certificate_with("model", "options", "sensitive", to=[]), ""),
    ("coherent", certificate_with("achieved", "largest_percentage", to=1.5), "achieved"),
    ("grouped", certificate_with("model", "options", "sensitive", to=["s"]), ""),
    ("grouped", certificate_with("release", "layout", "item_column", to="Ann is ill"), "layout"),
    ("jsonl", certificate_with("release", "layout", "long", to=True), "item"),
    *(
        (name, certificate_with("release", "layout", field, to=value), "does not show")
        for name, field, value in (
            ("jsonl", "id_column", "Ann is ill"),
            ("jsonl", "delimiter", ";"),
            ("fimi", "item_column", "Ann is ill"),
            ("basket", "id_column", "Ann is ill"),
            ("long", "long", True),
            ("parquet", "id_column", "Ann is ill"),
            ("parquet", "delimiter", ";"),
            ("trimmed", "item_column", "Ann"),
        )
    ),
    ("constrained", certificate_with("model", "options", "utility", to=...), "not in canonical form"),
    ("constrained", certificate_with("model", "options", "k", to=29), "fewer than k=29"),
    # What follows has a page that fits.
    *(
        (name, sentence(number, to), "not_protected")
        for name in ("jsonl", "replaced", "grouped", "constrained", "trimmed", "coherent")
        for number, to in ((0, ...), (-1, ...), (-1, "Certified by the office."), (-2, ...))
    ),
    ("guessable", sentence(0, to=...), "not_protected"),
    ("guessable", sentence(0, to="Guessing: nobody can."), "not_protected"),
    ("grouped", sentence(-1, to="Left out: nothing."), "not_protected"),
    ("ordered", sentence(0, to=...), "not_protected"),
    ("jsonl", redrawn(certificate_with("algorithm", "name", to="")), "algorithm.name"),
    ("jsonl", redrawn(certificate_with("algorithm", "name", to="aa\u202e")), "algorithm.name"),
    ("jsonl", redrawn(certificate_with("release", "suppression", to=True)), "missing from a recoding"),
    ("trimmed", redrawn(certificate_with("release", "suppression", to=False)), 'not what "trim" does'),
    ("grouped", redrawn(certificate_with("model", "options", "sensitive", to=["s"])), "not those that are counted"),
    ("grouped", redrawn(certificate_with("model", "options", "sensitive", to=["Ann", "s", "t"])), "do not show"),
    ("coherent", redrawn(certificate_with("model", "options", "sensitive", to=["Ann", "s", "t"])), "do not show"),
    ("constrained", redrawn(certificate_with("achieved", to={"smallest_support": 10**6})), "only the owner"),
    ("hidden", redrawn(certificate_with("achieved", to={"smallest_support": 10**6})), "only the owner"),
    ("constrained", redrawn(certificate_with("model", "options", "constraints", to=[["c"], ["a"]])), "not in order"),
    ("constrained", redrawn(certificate_with("model", "options", "constraints", to=[["c"], ["c"]])), "twice"),
    ("constrained", certificate_with("model", "options", "max_suppressed", to=True), "percentage"),
    *(
        (name, redrawn(certificate_with("release", "safe_csv", to=True)), "but none is")
        for name in ("jsonl", "long", "fimi", "parquet", "replaced", "grouped", "trimmed", "coherent")
    ),
]
RIDES: list[tuple[str, Change, str]] = [
    ("jsonl", text_with("published.jsonl", '{"items"', '{"note": 1, "items"'), "published.jsonl"),
    ("jsonl", text_with("published.jsonl", '{"items"', '{"id": "Ann", "items"'), "published.jsonl"),
    ("jsonl", text_with("published.jsonl", '{"items": [', '{"items": [], "items": ['), "published.jsonl"),
    ("jsonl", text_with("published.jsonl", "]}\n", "]}\r\n"), "canonical"),
    ("jsonl", text_with("published.jsonl", "]}\n", "]} \n"), "canonical"),
    ("jsonl", text_with("published.jsonl", "]}\n", "]}\n\n"), ""),
    ("jsonl", text_with("published.jsonl", '["', '["\\u0061'), ""),
    ("jsonl", lines_swapped("published.jsonl", 0, -1), "canonical form from line 1"),
    ("long", text_with("published.csv", "\n1,", "\n7,"), "canonical"),
    ("long", text_with("published.csv", "\n", "\r\n"), "canonical"),
    ("long", lines_swapped("published.csv", 1, -1), "canonical"),
    ("basket", text_with("published.csv", "\n", " \n"), ""),
    ("fimi", text_with("published.dat", "\n", "\n# Ann\n"), "published.dat"),
    ("fimi", text_with("published.dat", " ", "  "), "canonical"),
    ("fimi", lines_swapped("published.dat", 0, -1), "canonical"),
    ("fimi", text_with("codebook.csv", "\n", "\r\n"), "codebook.csv: not in canonical"),
    ("jsonl", lines_swapped("codebook.csv", 1, -1), "codebook.csv: not in canonical"),
    ("jsonl", text_with("codebook.csv", ",a\n", ',"a"\n'), "codebook.csv: not in canonical"),
    ("jsonl", text_with("codebook.csv", ",a\n", ",a\n,zoo\n"), "codebook.csv"),
    ("jsonl", text_with("codebook.csv", ",a\n", ",a,x\n"), "expected 2 fields"),
    ("replaced", lines_swapped("published.jsonl", 0, -1), "canonical"),
    ("grouped", lines_swapped("published.jsonl", 0, 3), "canonical form from line 1"),
    ("grouped", text_with("published.jsonl", '{"group"', '{"sick": true, "group"'), "canonical"),
    ("grouped", text_with("sensitive.csv", ",s,1", ",s,01"), "canonical"),
    ("grouped", text_with("sensitive.csv", ",s,1\n", ",s,1\n1,zoster,8\n"), "zoster"),
    ("grouped", text_with("sensitive.csv", ",s,1\n", ",s,1\n1,a,1\n"), "published unchanged in"),
    ("grouped", text_with("sensitive.csv", ",s,1\n", ",s,10000000000000000000000000\n"), "digits"),
    ("grouped", text_with("sensitive.csv", ",s,1\n", f",s,{'9' * 5000}\n"), "digits"),
    ("grouped", text_with("sensitive.csv", ",s,1\n", ",s,999999999999999\n"), "more than one in"),
    ("grouped", text_with("published.jsonl", '{"group": 1', '{"group": ' + "9" * 5000), "not a record"),
    ("grouped", text_with("published.jsonl", '"items": [', '"items": [' + "[" * 100_000), "not a record"),
    ("trimmed", lines_swapped("published.jsonl", 0, -1), "canonical form from line 1"),
    ("trimmed", text_with("published.jsonl", "]}\n", "]} \n"), "canonical"),
    ("trimmed", text_with("codebook.csv", "\n", "\nzoo,zoo\n"), "codebook.csv"),
    ("coherent", text_with("published.jsonl", '{"items"', '{"items": [], "items"'), "published.jsonl"),
    ("coherent", text_with("published.jsonl", "]}\n", "]}\r\n"), "canonical"),
    ("jsonl", linked("/etc/hostname"), "not a regular file"),
    ("jsonl", linked("/dev/zero"), "not a regular file"),
    ("jsonl", piped, "not a regular file"),
    ("jsonl", zipped, "compressed"),
    ("jsonl", sparse, "holes"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(CLAIMS)))
def test_claims_that_are_not_true(folders: dict[str, Path], tmp_path: Path, number: int) -> None:
    name, change, says = CLAIMS[number]
    checked = forged(folders, name, tmp_path, change)
    assert checked.holds is False
    told = " ".join((*checked.problems, "" if checked.verdict is None else checked.verdict.reason))
    assert says in told, told


@pytest.mark.parametrize("number", range(len(RIDES)))
def test_nothing_rides_along_and_nothing_breaks_the_reader(
    folders: dict[str, Path], tmp_path: Path, number: int
) -> None:
    name, change, says = RIDES[number]
    checked = forged(folders, name, tmp_path, change)
    assert checked.holds is False
    told = " ".join((*checked.problems, "" if checked.verdict is None else checked.verdict.reason))
    assert says in told, told


def test_what_only_the_owner_can_check_is_neither_held_nor_broken(folders: dict[str, Path], tmp_path: Path) -> None:
    raw = forged(folders, "hidden", tmp_path / "a", lambda folder: None)
    assert raw.holds is None
    gone = certificate_with("model", "options", "constraints", to=...)

    def vanished(folder: Path) -> None:
        gone(folder)
        certificate_with("model", "options", "utility", to=...)(folder)

    assert forged(folders, "constrained", tmp_path / "b", vanished).holds is not True
    emptied = forged(folders, "constrained", tmp_path / "d", certificate_with("model", "options", "constraints", to=[]))
    assert emptied.holds is not True and "only their owner can check" in emptied.unchecked[0]
    for number, vague in enumerate(([["nothing"]], [[]], [[], ["no", "such"]])):
        change = redrawn(certificate_with("model", "options", "constraints", to=vague))
        checked = forged(folders, "constrained", tmp_path / f"vague-{number}", change)
        assert checked.holds is None and any("only their owner can check" in line for line in checked.unchecked)
    other = forged(folders, "jsonl", tmp_path / "c", certificate_with("setveil", to="99.0"))
    assert other.holds is None
    assert "setveil 99.0" in other.unchecked[0]


def pipe(path: Path) -> None:
    os.mkfifo(path)


def link(path: Path) -> None:
    path.symlink_to("/dev/zero")


def deep(path: Path) -> None:
    path.write_text("[" * 100_000)


@pytest.mark.parametrize("odd", [pipe, link, deep])
@pytest.mark.parametrize("name", [".out.partial-run/internal/run.json", "out.internal/run.json"])
def test_what_lies_beside_a_folder_is_not_trusted_either(
    folders: dict[str, Path], tmp_path: Path, odd: Change, name: str
) -> None:
    """Whoever hands over a folder may hand over what seems to be its internal one, or left by a run that died."""
    shutil.copytree(folders["jsonl"], tmp_path / "out")
    (tmp_path / name).parent.mkdir(parents=True)
    odd(tmp_path / name)
    assert verify_folder(tmp_path / "out").holds
    assert verify_folder(tmp_path / "out", RECORDS).holds
    assert sv.open_release(tmp_path / "out").published.n_records == len(RECORDS)


def test_a_release_is_not_removed_for_what_lies_beside_it(folders: dict[str, Path], tmp_path: Path) -> None:
    shutil.copytree(folders["jsonl"], tmp_path / "out")
    (tmp_path / ".out.partial-run").mkdir()
    (tmp_path / ".out.partial-run" / "copying").touch()
    assert verify_folder(tmp_path / "out").holds


@pytest.mark.parametrize(
    "odd", [{}, {"algorithm": 7}, {"algorithm": {"name": [], "options": {}}, "seed": 1}, {"seed": "x"}]
)
def test_an_owners_record_of_another_shape_is_not_followed(
    folders: dict[str, Path], tmp_path: Path, odd: dict[str, object]
) -> None:
    shutil.copytree(folders["jsonl"], tmp_path / "out")
    digest = json.loads((tmp_path / "out" / "certificate.json").read_text())["digest"]
    (tmp_path / "out.internal").mkdir()
    (tmp_path / "out.internal" / "run.json").write_text(json.dumps({"certificate_digest": digest, **odd}))
    assert attack_folder(RECORDS, tmp_path / "out", known=(1,), targets=2).rows


def test_time_runs_out(folders: dict[str, Path]) -> None:
    checked = verify_folder(folders["jsonl"], time_limit=0)
    assert checked.holds is None
    assert "time_limit" in checked.unchecked[0]


ODD = ["=SUM(A1)", "'=x", "+1", "-2", "@me", "a\rb", "\u202etxt", "plain", "'quoted", 'say "hi"', "a;b|c"]


@pytest.mark.parametrize("layout", ["long", "basket", "jsonl"])
def test_formulas_and_odd_labels_survive(tmp_path: Path, layout: str) -> None:
    rows = [[label, "x"] for label in ODD for _ in range(3)] + [ODD] * 3
    release = sv.anonymize(Transactions.from_lists(rows), sv.KmAnonymity(k=3, m=2), "aa", "fanout:3")
    release.publish(tmp_path / "plain", to=layout)
    release.publish(tmp_path / "safe", to=layout, safe_csv=True)
    for name in ("plain", "safe"):
        checked = verify_folder(tmp_path / name, rows, labels_as_they_are=True)
        assert checked.holds, checked.problems
        assert sv.open_release(tmp_path / name).transactions() == release.transactions()
    text = (tmp_path / "safe" / "codebook.csv").read_bytes().decode()
    assert "\n'=SUM(A1),'=SUM(A1)\n" in text or ",'=SUM(A1)\n" in text
    assert ",=SUM(A1)\n" not in text
    for page in (tmp_path / "safe" / "report.html", tmp_path / "safe.internal" / "report.html"):
        assert "\u202e" not in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("layout", ["long", "basket", "jsonl"])
def test_whether_labels_are_guarded_cannot_be_turned_round(tmp_path: Path, layout: str) -> None:
    rows = [["=a", "x"], ["=a"], ["x"], ["+b", "x"], ["+b"]] * 4
    safe = sv.anonymize(Transactions.from_lists(rows), sv.KmAnonymity(k=2, m=2), "trim")
    bare = sv.anonymize(Transactions.from_lists([["x", "y"], ["x"]] * 4), sv.KmAnonymity(k=2, m=2), "trim")
    safe.publish(tmp_path / "safe", to=layout, safe_csv=True)
    safe.publish(tmp_path / "unsafe", to=layout)
    bare.publish(tmp_path / "bare", to=layout, safe_csv=True)
    intact = {path.name: path for path in tmp_path.iterdir()}
    said = {name: json.loads((intact[name] / "certificate.json").read_text()) for name in ("safe", "unsafe", "bare")}
    assert [one["release"]["safe_csv"] for one in said.values()] == [True, False, False]  # none needs it
    assert all(verify_folder(intact[name]).holds for name in said)

    def turned(name: str, to: bool) -> FolderVerdict:
        return forged(intact, name, tmp_path / f"{name}-{to}", redrawn(certificate_with("release", "safe_csv", to=to)))

    assert turned("safe", False).holds is None  # the quotes might be part of the labels
    assert verify_folder(tmp_path / "safe-False" / "out", rows).holds is False
    assert turned("unsafe", True).holds is False
    assert turned("bare", True).holds is False


def test_labels_of_counts_are_guarded_as_well(folders: dict[str, Path], tmp_path: Path) -> None:
    rows = [["=t" if item == "t" else item for item in row] for row in SECRETS]
    model = sv.PrivacyDegree(p=4, sensitive=["s", "=t"])
    sv.anonymize(Transactions.from_lists(rows), model, "random").publish(
        tmp_path / "grouped", safe_csv=True, accept_guessable=True
    )
    intact = {"grouped": tmp_path / "grouped"}
    assert verify_folder(intact["grouped"]).holds
    change = text_with("sensitive.csv", ",'=t,", ",=t,")
    checked = forged(intact, "grouped", tmp_path / "changed", change)
    assert checked.holds is False
    assert any("looks like a formula, but one does" in line for line in checked.problems)


def test_sensitive_items_are_found_under_their_new_names(tmp_path: Path) -> None:
    """Layouts of whole numbers rename every item; what is sensitive stays so."""
    rows = [["a", "b", "hiv"], ["a", "b"], ["a", "b"], ["c"], ["c"], ["c", "flu"]] * 4
    model = sv.Coherence(h=50, k=2, p=2, sensitive=["hiv", "flu"])
    release = sv.anonymize(rows, model, "mm")
    for layout in ("fimi", "spmf", "jsonl"):
        release.publish(tmp_path / layout, to=layout)
        assert verify_folder(tmp_path / layout).holds
    naked = sv.Coherence(h=10, k=2, p=2, sensitive=["hiv"])
    from dataclasses import replace

    assert release.record is not None
    broken = replace(release, record=replace(release.record, model=naked))
    with pytest.raises(sv.GuaranteeError):
        broken.publish(tmp_path / "broken", to="fimi")


@pytest.mark.parametrize("kind", ["one value over and over", "one long value"])
def test_a_small_parquet_file_that_stands_for_much_is_not_read(
    folders: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    import polars as pl

    from setveil.io.releases import expansion

    monkeypatch.setattr(expansion, "ROOM", 32 * 2**20)
    items = pl.repeat("a", 6_000_000, eager=True) if kind.endswith("over") else pl.Series(["0" * 150_000_000])

    def change(folder: Path) -> None:
        pl.DataFrame({"items": [items]}).write_parquet(folder / "published.parquet", compression="zstd")
        assert (folder / "published.parquet").stat().st_size < 2**16

    checked = forged(folders, "parquet", tmp_path, change)
    assert checked.holds is None
    assert any("unpack to more than" in line for line in checked.unchecked)
