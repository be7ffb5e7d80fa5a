"""Data to try things on: the bundled baskets, and generated files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from setveil.core import Layout, Transactions
from setveil.core.progress import Progress, no_progress
from setveil.io.transactions.reading import layout_for


def demo_files() -> tuple[Path, Path]:
    """The bundled baskets and their taxonomy."""
    from setveil.workflows import demo_data

    return demo_data.baskets_path(), demo_data.taxonomy_path()


def generate_quest(out: str | os.PathLike[str], to: str, progress: Progress = no_progress, **parameters: Any) -> int:
    """Write Quest-style baskets; returns how many."""
    from setveil.generate import quest

    return _write_chunks(quest(**parameters), out, to, parameters.get("D", 100_000), progress)


def generate_patients(out: str | os.PathLike[str], to: str, progress: Progress = no_progress, **parameters: Any) -> int:
    """Write invented patients; returns how many records."""
    from setveil.generate import patients

    return _write_chunks(patients(**parameters), out, to, parameters.get("n", 10_000), progress)


def _write_chunks(
    chunks: Iterator[Transactions], out: str | os.PathLike[str], to: str, n: int, progress: Progress
) -> int:
    from setveil.generate import collect
    from setveil.io.transactions.writing import write_chunks, write_transactions

    def watched() -> Iterator[Transactions]:
        done = 0
        for chunk in chunks:
            done += chunk.n_records
            progress("generating", min(done / max(n, 1), 1.0))
            yield chunk

    layout = layout_for(to, Layout())
    if to not in ("spmf", "parquet"):
        return write_chunks(watched(), out, layout)
    data = collect(watched())  # these layouts need to know everything before the first record
    write_transactions(data, out, layout)
    return data.n_records


def write_patients_companion(what: str, path: Path) -> None:
    """The hierarchy, the sensitive codes or the disease groups that go with generated patients."""
    from setveil import generate

    if what == "hierarchy":
        generate.patients_hierarchy().to_file(str(path))
        return
    lines = generate.patients_sensitive() if what == "sensitive" else map(",".join, generate.patients_groups().values())
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
