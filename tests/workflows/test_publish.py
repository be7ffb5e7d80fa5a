"""The published folder: whole or not there, and silent about the original."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import setveil as sv
from setveil.core import Hierarchy, Layout, Transactions
from setveil.io.releases.files import read_release, write_release
from setveil.io.releases.folders import Staging
from setveil.io.releases.marks import mark
from setveil.io.releases.people import encode_people, read_people
from setveil.releases import Recoding, Release
from setveil.workflows.folder import open_release
from setveil.workflows.recheck import verify_folder

ROWS = [
    ["milk", "bread"],
    ["milk", "bread", "zebra food"],
    ["beer"],
    ["beer", "wine"],
    ["bread", "wine"],
    ["milk"],
    [],
] * 4
TREE = [
    ("milk", "food"),
    ("bread", "food"),
    ("zebra food", "food"),
    ("beer", "drink"),
    ("wine", "drink"),
    ("unicorn", "drink"),
]
LAYOUTS = ("fimi", "spmf", "long", "basket", "jsonl", "parquet")


def release_of(rows: list[list[str]] = ROWS, k: int = 3) -> Release:
    tree = Hierarchy.from_paths([(*path, "all") for path in TREE])
    return sv.anonymize(Transactions.from_lists(rows), sv.KmAnonymity(k=k, m=2), "aa", tree)


def listing(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_the_two_folders_hold_what_the_contract_says(tmp_path: Path) -> None:
    release_of().publish(tmp_path / "out")
    assert listing(tmp_path / "out") == {"published.jsonl", "codebook.csv", "certificate.json", "report.html"}
    assert listing(tmp_path / "out.internal") == {
        "assessment.html",
        "policy.toml",
        "run.json",
        "report.html",
        "order.npy",
        "codebook.csv",
    }
    assert stat.S_IMODE((tmp_path / "out.internal").stat().st_mode) == 0o700
    assert listing(tmp_path) == {"out", "out.internal"}


def test_the_certificate_has_the_fields_of_the_contract(tmp_path: Path) -> None:
    release_of().publish(tmp_path / "out")
    certificate = json.loads((tmp_path / "out" / "certificate.json").read_text())
    fields = {"setveil", "schema", "model", "algorithm", "records", "files", "verified", "achieved", "metrics", "risk"}
    assert fields | {"not_protected", "digest"} <= set(certificate)
    assert certificate["model"] == {"name": "km", "options": {"k": 3, "m": 2}}
    assert certificate["verified"] is True
    assert certificate["achieved"]["smallest_support"] >= 3
    assert certificate["records"] == len(ROWS)
    assert set(certificate["files"]) == {"published.jsonl", "codebook.csv", "report.html"}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_is_written_verified_and_read_back(tmp_path: Path, layout: str) -> None:
    release = release_of()
    release.publish(tmp_path / "out", to=layout)
    checked = verify_folder(tmp_path / "out", [*map(set, ROWS)])
    assert checked.holds, checked.problems
    again = open_release(tmp_path / "out")
    if layout not in ("fimi", "spmf"):
        assert again.transactions() == release.transactions()
    assert [len(row) for row in again.transactions()] == [len(row) for row in release.transactions()]
    assert sv.measure(ROWS, again)["ncp"] == pytest.approx(sv.measure(ROWS, release)["ncp"])


@pytest.mark.parametrize("layout", LAYOUTS)
def test_record_order_leaves_no_trace(tmp_path: Path, layout: str) -> None:
    shuffled = [ROWS[number] for number in np.random.default_rng(0).permutation(len(ROWS))]
    release_of().publish(tmp_path / "one", to=layout)
    release_of(shuffled).publish(tmp_path / "two", to=layout)
    for name in listing(tmp_path / "one"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name


def test_the_public_folder_tells_nothing_about_the_original(tmp_path: Path) -> None:
    """Walk every public file for the input's path, name, hash, ids, order, exact metrics and unpublished items."""
    source = tmp_path / "secret-source.csv"
    rows = [f"id{number * 7919},{item}" for number, row in enumerate(ROWS) for item in row or [""]]
    source.write_text("person,item\n" + "\n".join(rows) + "\n", encoding="utf-8")
    tree = tmp_path / "secret-tree.csv"
    tree.write_text("\n".join(",".join((*path, "all")) for path in TREE) + "\n", encoding="utf-8")
    policy = sv.Policy.from_dict(
        {
            "schema": 1,
            "seed": 987123,
            "model": {"name": "km", "k": 5, "m": 2},
            "algorithm": {"name": "aa"},
            "hierarchy": {"source": str(tree)},
        }
    )
    outcome = sv.run(policy, str(source), tmp_path / "out")
    run = json.loads((outcome.internal / "run.json").read_text())
    exact = [repr(value) for value in run["metrics"].values() if isinstance(value, float) and len(repr(value)) > 6]
    assert exact, "the case must have a metric with many digits"
    before = [repr(row["mean_inverse_support"]) for row in run["risk"]["before"] if row["mean_inverse_support"]]
    unpublished = [
        item for item in outcome.release.record.data.vocabulary if item not in outcome.release.published.vocabulary
    ]
    assert unpublished
    secrets = [
        "secret",
        "id7919",
        str(tmp_path),
        run["input"]["sha256"],
        "987123",
        os.uname().nodename,
        *exact,
        *before,
    ]
    for path in outcome.path.iterdir():
        text = path.read_text(encoding="utf-8")
        for secret in secrets:
            assert secret not in text, f"{path.name} tells {secret}"
        if path.name not in ("codebook.csv", "item_counts.csv"):  # the items that published ones cover, and must
            for item in unpublished:
                assert item not in text, f"{path.name} names the unpublished item {item}"
        assert not re.search(r"20\d\d-\d\d-\d\d", text), f"{path.name} holds a date"
    lines = (outcome.path / "published.csv").read_text().splitlines()[1:]
    ids = [int(line.split(",")[0]) for line in lines]
    assert ids == sorted(ids)
    assert set(ids) == set(range(1, len(ROWS) + 1))


def test_the_codebook_accounts_for_every_leaf_and_hides_absence(tmp_path: Path) -> None:
    release_of().publish(tmp_path / "out")
    rows = [line.split(",") for line in (tmp_path / "out" / "codebook.csv").read_text().splitlines()]
    assert rows[0] == ["published_item", "item"]
    assert sorted(item for _, item in rows[1:]) == sorted(path[0] for path in TREE)
    book = {item: label for label, item in rows[1:]}
    if book["beer"] == "drink":
        assert book["unicorn"] == "drink"  # absent from the data, but nothing tells


def test_integer_layouts_get_fresh_integers_in_hierarchy_order(tmp_path: Path) -> None:
    tree = Hierarchy.balanced(Transactions.from_lists([[*range(10, 30)]]), 5)
    data = Transactions.from_lists([[10, 11], [12, 29], [15, 16]])
    cut = np.arange(20)
    cut[tree.leaves(tree.parent[0])] = tree.parent[0]
    cut[tree.leaves(tree.parent[19])] = tree.parent[19]
    folder = tmp_path / "files"
    folder.mkdir()
    write_release(Recoding.from_cut(data, tree, cut), folder, Layout("fimi"))
    inner = [int(node) for node in tree.in_preorder if node >= 20]
    first, last = (30 + inner.index(int(tree.parent[leaf])) for leaf in (0, 19))
    assert (folder / "published.dat").read_text().splitlines() == ["15 16", f"{first}", f"{first} {last}"]


def test_fresh_integers_are_none_of_the_taxonomy(tmp_path: Path) -> None:
    """SPMF's taxonomies call groups by numbers: what is published must not mean another group there."""
    (tmp_path / "taxonomy.txt").write_text("1,7\n5,7\n2,8\n3,9\n4,9\n6,8\n7,10\n8,10\n9,10\n")
    release = sv.anonymize([[1, 2], [5, 6], [3, 2], [4, 6]], "km", "aa", str(tmp_path / "taxonomy.txt"), k=2, m=1)
    out = release.publish(tmp_path / "out", to="spmf")
    published = {int(item) for item in (out / "published.txt").read_text().split()}
    assert published == {2, 6, 12, 14}  # 11 is the root, 13 the group of 2 and 6


def test_a_release_that_breaks_its_claim_is_not_published(tmp_path: Path) -> None:
    from dataclasses import replace

    good = release_of()
    broken = replace(good, record=replace(good.record, model=sv.KmAnonymity(k=30, m=2)))
    with pytest.raises(sv.GuaranteeError, match="not published"):
        broken.publish(tmp_path / "out")
    assert listing(tmp_path) == set()


def test_a_release_that_says_something_else_than_the_data_is_not_published(tmp_path: Path) -> None:
    from dataclasses import replace

    good = release_of()
    rows = good.published
    doubled = Transactions.from_lists([*rows.to_lists()[1:], rows.to_lists()[1]])  # the claim holds, the data do not
    assert len(doubled) == len(rows) and set(doubled.vocabulary) == set(rows.vocabulary)
    assert not np.array_equal(doubled.supports, rows.supports)
    with pytest.raises(sv.GuaranteeError, match=r"the files differ from what the original gives: .*differently from"):
        replace(good, published=replace(doubled, layout=rows.layout)).publish(tmp_path / "out")
    assert listing(tmp_path) == set()


def test_an_existing_release_is_replaced_only_by_force(tmp_path: Path) -> None:
    release_of().publish(tmp_path / "out")
    with pytest.raises(sv.InputError, match="force=True"):
        release_of().publish(tmp_path / "out")
    release_of(k=4).publish(tmp_path / "out", force=True)
    assert json.loads((tmp_path / "out" / "certificate.json").read_text())["model"]["options"]["k"] == 4
    assert listing(tmp_path) == {"out", "out.internal"}


def test_force_never_replaces_a_folder_of_another_kind(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("years of work")
    with pytest.raises(sv.InputError, match="is not a setveil release"):
        release_of().publish(tmp_path / "out", force=True)
    assert (tmp_path / "out" / "thesis.tex").exists()


def test_times_of_files_tell_nothing(tmp_path: Path) -> None:
    """They would tell how long it took to measure the original."""
    out = release_of().publish(tmp_path / "out")
    times = {path.stat().st_mtime_ns for path in (*out.iterdir(), out)}
    assert len(times) == 1
    assert times.pop() % 10**9 == 0


def test_no_release_inside_another(tmp_path: Path) -> None:
    """Its internal folder would leave the house with the other one."""
    release = release_of()
    release.publish(tmp_path / "out")
    for place in ("out/more", "out/deep/more", "out.internal/more"):
        with pytest.raises(sv.InputError, match="inside another release"):
            release.publish(tmp_path / place)
    assert sv.verify_folder(tmp_path / "out").holds


@pytest.mark.parametrize("constraints", [[], [[]]])
def test_no_constraints_are_no_promise(constraints: list[list[str]]) -> None:
    with pytest.raises(sv.InputError, match="nothing would be protected"):
        sv.anonymize([["a", "b"]] * 3, sv.ConstraintAnonymity(k=2, constraints=constraints))


@pytest.mark.parametrize("is_owner", [True, False])
def test_a_sensitive_item_that_was_left_out_altogether_is_no_surprise_to_the_owner(
    tmp_path: Path, is_owner: bool
) -> None:
    rows = [["3"], ["1", "3", "4"], ["1", "2"]]
    sv.anonymize(rows, sv.PrivacyDegree(p=2, sensitive=["1", "2"])).publish(tmp_path / "out")
    if not is_owner:
        shutil.rmtree(tmp_path / "out.internal")
    checked = sv.verify_folder(tmp_path / "out", rows)
    assert checked.holds, checked.problems
    assert not sv.verify_folder(tmp_path / "out", [*rows, ["3", "5"]]).holds
    assert not sv.verify_folder(tmp_path / "out", [["3", "5"], *rows[1:]]).holds


def test_what_a_killed_run_left_is_swept_and_a_live_run_is_not(tmp_path: Path) -> None:
    left = tmp_path / ".out.partial-run"
    left.mkdir(mode=0o700)
    mark(left)
    (left / "public").mkdir()
    (left / "public" / "published.csv").write_text("half")
    with Staging(tmp_path / "out") as first:
        assert not (left / "half").exists()
        with pytest.raises(sv.InputError, match="another run"), Staging(tmp_path / "out", force=True):
            pass
        assert first.public.exists()
    assert listing(tmp_path) == set()


def test_places_that_no_release_can_have(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    for place in (
        "/",
        tmp_path / "file",
        tmp_path / "link",
        tmp_path / ("n" * 300),
        tmp_path / "a\0b",
        tmp_path / "file" / "x",
    ):
        with pytest.raises(sv.InputError) as caught:
            release_of().publish(place)
        assert len(str(caught.value)) <= 300
    assert listing(tmp_path) == {"file", "link"}
    with pytest.raises(sv.InputError), Staging(tmp_path / "new" / "folders" / "out"):
        raise sv.InputError("something else went wrong")
    assert listing(tmp_path) == {"file", "link"}


KILLED = """
import sys, time
import setveil as sv
from setveil.core import Hierarchy, Transactions
rows = [["a", "b"], ["b", "c"], ["a", "c"], ["a"]] * 20_000
release = sv.anonymize(Transactions.from_lists(rows), sv.KmAnonymity(k=3, m=2), "aa", "fanout:2")
print("ready", flush=True)
for turn in range(1000):
    release.publish(sys.argv[1], force=True)
"""


@pytest.mark.parametrize(
    ("kill", "delays"), [(signal.SIGKILL, (0.0, 0.05, 0.2, 0.4, 0.7)), (signal.SIGINT, (0.1, 0.5))]
)
def test_a_run_that_is_stopped_leaves_a_whole_release_or_none(
    tmp_path: Path, kill: int, delays: tuple[float, ...]
) -> None:
    for number, delay in enumerate(delays):
        out = tmp_path / f"out{number}"
        process = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(out)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        time.sleep(delay)
        process.send_signal(kill)
        process.wait()
        process.stdout.close()
        if out.exists():
            checked = verify_folder(out)
            assert checked.holds, checked.problems
        if kill == signal.SIGINT:
            assert not [name for name in listing(tmp_path) if "partial" in name]


def test_groups_are_numbered_by_content_not_by_input(tmp_path: Path) -> None:
    rows = [["a", "s"], ["b"], ["c"], ["d", "t"], ["a"], ["b", "s"], ["e"], ["f"]]
    groups = np.array([0, 0, 1, 1, 2, 2, 3, 3])
    written = []
    for turn, order in enumerate((np.arange(8), np.array([5, 2, 7, 0, 3, 1, 6, 4]))):
        data = Transactions.from_lists([rows[number] for number in order])
        release = sv.Grouping.from_groups(data, 10 - groups[order], ["s", "t"])
        folder = tmp_path / str(turn)
        folder.mkdir()
        files = write_release(release, folder, Layout("jsonl"))
        written.append([(folder / name).read_bytes() for name in files.files])
        again = read_release(folder, "grouping", files.published, files.layout, ("s", "t"))
        assert sorted(map(sorted, again.transactions())) == sorted(map(sorted, release.transactions()))
        assert isinstance(again, sv.Grouping)
        assert again.canonical().number.tolist() == list(range(4))  # reading back keeps the canonical numbers
    assert written[0] == written[1]
    first = json.loads(written[0][0].splitlines()[0])
    assert first == {"group": 1, "items": ["a"]}


def test_a_grouping_refuses_to_keep_order_or_ids(tmp_path: Path) -> None:
    release = sv.Grouping.from_groups(Transactions.from_lists([["a", "s"], ["b"]]), np.array([0, 0]), ["s"])
    with pytest.raises(sv.InputError, match="who is in which group"):
        write_release(release, tmp_path, Layout("jsonl"), keep_order=True)


def test_groups_survive_json_lines_and_parquet(tmp_path: Path) -> None:
    data = Transactions.from_lists([["a", 'b"q'], [], ["ü", "a"], ["c"]])
    groups = np.array([1, 0, 1, 0])
    for name in ("groups.jsonl", "groups.parquet"):
        layout = name.partition(".")[2]
        pieces = encode_people(data, np.array([3, 1, 0, 2]), layout, groups + 1)
        (tmp_path / name).write_bytes(b"".join(pieces))
        rows, numbers = read_people(tmp_path / name, layout, has_groups=True)
        assert rows.to_lists() == [["c"], [], ["a", 'b"q'], ["a", "ü"]]
        assert numbers.tolist() == [1, 1, 2, 2]


@pytest.mark.parametrize(
    "line",
    [
        '{"group": 0, "items": []}',
        '{"group": 1}',
        '{"group": 1, "items": [3]}',
        '{"group": 1, "items": [""]}',
        "[]",
        "{",
        '{"group": 1, "items": "ab"}',
    ],
)
def test_a_damaged_group_file_is_named_with_its_line(tmp_path: Path, line: str) -> None:
    path = tmp_path / "published.jsonl"
    path.write_text('{"group": 1, "items": ["a"]}\n' + line + "\n")
    with pytest.raises(sv.InputError, match=r"published\.jsonl:2: is not a record"):
        read_people(path, "jsonl", has_groups=True)


def test_a_certificate_cannot_point_outside_its_folder(tmp_path: Path) -> None:
    from setveil.report.certificate import seal, write_json

    release_of().publish(tmp_path / "out")
    (tmp_path / "elsewhere.jsonl").write_text((tmp_path / "out" / "published.jsonl").read_text())
    certificate = json.loads((tmp_path / "out" / "certificate.json").read_text())
    certificate["release"]["published"] = "../elsewhere.jsonl"
    write_json(seal(certificate), tmp_path / "out" / "certificate.json")
    checked = verify_folder(tmp_path / "out")
    assert not checked.holds
    assert "release.published" in " ".join(checked.problems)


def test_the_owner_can_check_constraints_that_were_not_published(tmp_path: Path) -> None:
    data = tmp_path / "data.txt"
    data.write_text("a,b\na,c\nb,c\na,b,c\nd\nd,a\n" * 3)
    (tmp_path / "privacy.txt").write_text("a,b\na,d\n")
    (tmp_path / "groups.txt").write_text("a,b\nc,d\n")
    model = {"name": "constraints", "k": 4, "max_suppressed": 50}
    model |= {"constraints": str(tmp_path / "privacy.txt"), "utility": str(tmp_path / "groups.txt")}
    policy = sv.Policy.from_dict({"schema": 1, "model": model, "algorithm": {"name": "upcta"}})
    sv.run(policy, str(data), tmp_path / "out")
    recipient = verify_folder(tmp_path / "out")
    assert recipient.holds is None
    assert recipient.verdict is None
    assert "only their owner can check" in recipient.unchecked[0]
    owner = verify_folder(tmp_path / "out", str(data))
    assert owner.holds, owner.problems
    assert owner.verdict is not None
    assert "constraints" not in json.loads((tmp_path / "out" / "certificate.json").read_text())["model"]["options"]
