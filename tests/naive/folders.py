"""What of a release folder follows from its records, and from nothing else."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from setveil.algorithms import by_kind
from setveil.models import Coherence, KAnonymity, KmAnonymity, certified_model
from setveil.report.page import render_report
from setveil.report.record import public_facts
from setveil.workflows.folder import read_folder
from tests.naive import risk, verify

COARSE = re.compile(r"(fewer than|about) (\d+)( per 100 published records| %)")


def read_rows(folder: Path, name: str) -> tuple[list[frozenset[str]], list[int | None]]:
    """The published records, and the group of each."""
    rows = [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]
    pairs = [(row["items"], row.get("group")) if isinstance(row, dict) else (row, None) for row in rows]
    return [frozenset(items) for items, _ in pairs], [group for _, group in pairs]


def read_table(path: Path) -> list[list[str]]:
    """The rows of a CSV file below its header; none if there is no such file."""
    return list(csv.reader(path.read_text(encoding="utf-8").splitlines()))[1:] if path.exists() else []


def unexplained(
    folder: Path, asked: Mapping[str, Any], neighbour: Mapping[str, Any], paths: Sequence[Sequence[str]] | None = None
) -> set[str]:
    """The parts of a folder that neither follow from its records nor stand in a neighbour's certificate as well.

    The ``neighbour`` was made in the same way of other records, so that what both say is not about the records.
    ``asked``: the model's options; ``paths``: of the hierarchy, if the names in it are public.
    """
    text = (folder / "certificate.json").read_text(encoding="utf-8")
    said = json.loads(text)
    expected = {**neighbour, **figures_of_records(folder, said, asked)}
    expected["not_protected"] = coarse(neighbour["not_protected"], expected["records"])
    told = {**said, "not_protected": coarse(said["not_protected"], expected["records"])}
    strange = {name for name in {*told, *expected} if told.get(name) != expected.get(name)}
    if text != json.dumps(said, sort_keys=True, indent=2, ensure_ascii=False) + "\n":
        strange.add("certificate.json")
    if {path.name for path in folder.iterdir()} != {*neighbour["files"], "certificate.json"}:
        strange.add("names of files")
    page = render_report(public_facts(said, read_folder(folder, said), by_kind(said["model"]["name"])))
    if (folder / "report.html").read_text(encoding="utf-8") != page:
        strange.add("report.html")
    book = {tuple(row) for row in read_table(folder / "codebook.csv")}
    rows, _ = read_rows(folder, said["release"]["published"])
    if book != codebook_of(rows, paths):
        strange.add("codebook.csv")
    return strange


def figures_of_records(folder: Path, said: Mapping[str, Any], asked: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a certificate that may differ between databases, counted in the published files."""
    rows, groups = read_rows(folder, said["release"]["published"])
    counts = [(int(group), item, int(count)) for group, item, count in read_table(folder / "sensitive.csv")]
    shown = {item for row in rows for item in row} | {item for _, item, _ in counts}
    options = {
        name: [label for label in value if label in shown] if name == "sensitive" else value
        for name, value in asked.items()
    }
    model, _ = certified_model(said["model"]["name"], options)
    sizes = Counter(groups)
    n_items = len({item for row in rows for item in row})
    metrics = {"n_published_items": n_items, "empty_records": rows.count(frozenset())}
    if said["release"]["kind"] == "grouping":
        metrics["n_groups"] = len(sizes)
    if isinstance(model, KmAnonymity):
        achieved: Mapping[str, int | float] = verify.km(rows, model)[1]
    elif isinstance(model, KAnonymity):
        achieved = verify.k_anonymity(rows, model)[1]
    elif isinstance(model, Coherence):
        achieved = verify.coherence(rows, model)[1]
    else:
        achieved = {"privacy_degree": int(min(Fraction(sizes[group], count) for group, _, count in counts))}
    public = [row - set(model.options().get("sensitive", ())) for row in rows]  # what an attacker can know
    files = {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "certificate.json"}
    content = {key: value for key, value in said.items() if key != "digest"}
    sealed = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    return {
        "model": {"name": model.name, "options": model.options()},
        "records": len(rows),
        "metrics": metrics,
        "achieved": dict(achieved),
        "risk": {"after": [risk_row(public, known, model.crowd or 5) for known in (1, 2, 3, 4)]},
        "files": {name: hashlib.sha256(content).hexdigest() for name, content in files.items()},
        "digest": hashlib.sha256(sealed).hexdigest(),
    }


def risk_row(rows: Sequence[frozenset[str]], known: int, k: int) -> dict[str, Any]:
    """A row of the risk table as certificates have it."""
    found = risk.exposure(rows, known, k)
    shares = {name: None if value is None else float(value) for name, value in found.items() if name != "n_records"}
    for name in ("singled_out", "mean_inverse_support"):
        share = shares[name]
        shares[name] = None if share is None else round(share, 12)
    n_records = int(found["n_records"] or 0)
    n_alone = risk.fewest_matches(rows, [()] * len(rows), known).count(1)
    return {
        "worst_singled_out": n_alone / len(rows) if n_records else None,
        "worst_singled_out_interval": None,
        **shares,
        "known": known,
        "n_records": n_records,
        "share_of_records": n_records / len(rows),
        "exact": True,
        "n_targets": None,
        **dict.fromkeys(["singled_out_interval", "mean_inverse_support_interval", "below_k_interval"]),
        "note": "" if n_records else f"no record has {known} items or more",
    }


def codebook_of(rows: Sequence[frozenset[str]], paths: Sequence[Sequence[str]] | None) -> set[tuple[str, ...]]:
    """What a codebook may say: every published item stands for itself, or for what is below it in a public tree."""
    shown = {item for row in rows for item in row}
    if paths is None:
        return {(item, item) for item in shown}
    return {(next((node for node in path if node in shown), ""), path[0]) for path in paths}


def coarse(sentences: Sequence[str], n_records: int) -> list[str]:
    """Sentences without their figures, where those are in steps of 5 % of at least 1,000 records."""

    def without(found: re.Match[str]) -> str:
        is_silent = n_records >= 1000 and int(found[2]) % 5 == 0
        return f"{found[1]} …{found[3]}" if is_silent else found[0]

    return [COARSE.sub(without, sentence) for sentence in sentences]
