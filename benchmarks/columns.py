"""Columns beside items: what ``classes`` and the paper's algorithms lose at the same bound on the loss of columns.

``python -m benchmarks.columns [-n PEOPLE] [-k K] [--delta D]``: invented patients with age, sex and region, m = 2,
along the hierarchy of codes. Seconds are CPU seconds.

``--peer "NAME=COMMAND"`` runs another program on the same people and measures its result in the same way. None of them
is part of this project. A command may use these names in braces: ``{people}``, a folder with ``people.csv`` (a number,
the columns, and the items joined by ``|``) and a hierarchy for each column and for the items (``age.csv``, …,
``items.csv``: one line per value, from the value to the root); ``{k}``, ``{m}``, ``{delta}``; and ``{out}``, a folder
in which the program writes ``published.jsonl``: ``{"row": "1", "columns": [...], "items": [...]}`` per person.
"""

from __future__ import annotations

import argparse
import csv
import json
import shlex
import shutil
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import setveil as sv
from benchmarks.commands import run_measured
from setveil.core.columns import Column, Columns
from setveil.generate import patients_hierarchy
from setveil.io.hierarchies.values import hierarchy_of_values


def people(n: int) -> sv.Transactions:
    """Patients with three known columns."""
    data = sv.generate("patients", n=n, columns=True, seed=1)
    assert data.columns is not None
    age = data.columns["age"]
    age = replace(age, hierarchy=hierarchy_of_values("bands:5,10,20", age, "age"))
    return replace(data, columns=Columns((age, data.columns["sex"], data.columns["region"])))


def main() -> None:
    """Print a line per algorithm."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=10_000)
    parser.add_argument("-k", type=int, default=8)
    parser.add_argument("--delta", type=float, default=0.2)
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=COMMAND", help="a program to compare with")
    asked = parser.parse_args()
    data = people(asked.n)
    for name in ("classes", "rmerge", "tmerge", "rtmerge"):
        started = time.process_time()
        release = sv.anonymize(data, "kkm", name, patients_hierarchy(), {"delta": asked.delta}, k=asked.k, m=2)
        found = release.details
        say(name, found["loss_of_columns"], found["loss_of_items"], found["classes"], time.process_time() - started)
    for peer in asked.peer:
        name, _, command = peer.partition("=")
        run_peer(name, command, data, asked.k, asked.delta)


def say(name: str, columns: float, items: float, n_classes: int, seconds: float, note: str = "") -> None:
    """One line."""
    print(
        f"{name:14} columns {columns:.3f}  items {items:.3f}  classes {n_classes:,}  {seconds:.1f} s{note}", flush=True
    )


def run_peer(name: str, command: str, data: sv.Transactions, k: int, delta: float) -> None:
    """Run another program, and measure and verify what it wrote."""
    with tempfile.TemporaryDirectory() as temporary:
        folder, out = Path(temporary) / "people", Path(temporary) / "out"
        folder.mkdir()
        out.mkdir()
        write_people(data, folder)
        words = shlex.split(command.format(people=folder, k=k, m=2, delta=delta, out=out))
        program = shutil.which(words[0]) or words[0]
        status, seconds, _, _ = run_measured([program, *words[1:]], Path(temporary) / "stdout", {})
        if status:
            print(f"{name:14} exit {status}")
            return
        records = [json.loads(line) for line in (out / "published.jsonl").read_text().splitlines()]
    records.sort(key=lambda record: int(record["row"]))
    assert data.columns is not None
    trees = [column.tree for column in data.columns]
    columns = sum(
        loss(tree, label) for record in records for tree, label in zip(trees, record["columns"], strict=True)
    ) / (len(records) * len(trees))
    codes, lost = patients_hierarchy(), 0.0
    for items, record in zip(data.to_lists(), records, strict=True):
        for item in items:
            above = {codes.labels[node] for node in codes.ancestors(codes.vocabulary.number(item))} | {"*"}
            lost += min((loss(codes, label) for label in record["items"] if label in above), default=1.0)
    shown = sv.Transactions.from_lists([record["items"] for record in records])
    known = [
        Column.of(column.name, "known", [record["columns"][place] for record in records])
        for place, column in enumerate(data.columns)
    ]
    verdict = sv.verify(replace(shown, columns=Columns(tuple(known))), "kkm", k=k, m=2)
    n_classes = len({tuple(record["columns"]) for record in records})
    note = "" if verdict.holds else f"  not verified: {verdict.reason}"
    say(name, columns, lost / data.n_occurrences, n_classes, seconds, note)


def write_people(data: sv.Transactions, folder: Path) -> None:
    """What other programs read."""
    assert data.columns is not None
    cells = [column.to_list() for column in data.columns]
    with open(folder / "people.csv", "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["row", *data.columns.names, "items"])
        for number, (items, *values) in enumerate(zip(data.to_lists(), *cells, strict=True), start=1):
            rows.writerow([number, *values, "|".join(items)])
    for name, tree in [*((column.name, column.tree) for column in data.columns), ("items", patients_hierarchy())]:
        with open(folder / f"{name}.csv", "w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file, lineterminator="\n")
            rows.writerows([tree.labels[node] for node in tree.ancestors(leaf)] for leaf in range(tree.n_items))


def loss(tree: sv.Hierarchy, label: str) -> float:
    """NCP of a published label; ``*`` covers everything."""
    if label == "*":
        return 1.0
    size = int(tree.n_leaves[tree.published_labels.index(label)])
    return size / tree.n_items if size > 1 else 0.0


if __name__ == "__main__":
    main()
