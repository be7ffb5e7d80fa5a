"""Data to try things on: the bundled baskets, and generated files."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from setveil.core import Layout, Transactions
from setveil.core.progress import Progress, no_progress
from setveil.errors import InputError, one_line
from setveil.io.formats.registry import written_format
from setveil.io.transactions.reading import layout_for

DEMO_ROLES = {"person": "basket", "item": "item"}  # of the bundled table: every basket is a person


def demo_files() -> tuple[Path, Path]:
    """The bundled baskets and their taxonomy."""
    from setveil.workflows import demo_data

    return demo_data.baskets_path(), demo_data.taxonomy_path()


def generate(kind: str, **parameters: Any) -> Transactions:
    """Synthetic data with a seed: the same records on every machine.

    Args:
        kind: ``"quest"`` (market baskets) or ``"patients"`` (diagnosis codes per patient).
        parameters: quest: ``D`` baskets of about ``T`` items out of ``N``, made of ``L`` patterns of about ``I`` items,
            ``correlation``, ``corruption``, ``seed``. patients: ``n``, ``visits``, ``columns``, ``seed``.

    Returns:
        The records.

    Raises:
        InputError: the kind or a parameter is unknown or out of range.

    Examples:
        >>> import setveil as sv
        >>> sv.generate("quest", D=100, T=5, N=50, seed=1)
        Transactions(100 records, 50 items, 554 occurrences)
    """
    from setveil.generate import collect, patients, quest

    makers: dict[str, Callable[..., Iterator[Transactions]]] = {"quest": quest, "patients": patients}
    if kind not in makers:
        raise InputError(f'kind="{kind}": unknown; choose one of {", ".join(makers)}.')
    known = inspect.signature(makers[kind]).parameters
    for name in parameters:
        if name not in known:
            raise InputError(f"{kind} has no parameter {name}; it has {', '.join(known)}.")
    return collect(makers[kind](**parameters))


def generate_quest(out: str | os.PathLike[str], to: str, progress: Progress = no_progress, **parameters: Any) -> int:
    """Write Quest-style baskets; returns how many."""
    from setveil.generate import quest

    return _write_chunks(quest(**parameters), out, to, parameters.get("D", 100_000), progress)


def generate_patients(out: str | os.PathLike[str], to: str, progress: Progress = no_progress, **parameters: Any) -> int:
    """Write invented patients; returns how many records."""
    from setveil.generate import patients

    if parameters.get("columns"):
        if to != "long":
            raise InputError(f'columns are written as a long table; use --to long instead of "{one_line(to)}".')
        return _write_people(patients(**parameters), out, parameters.get("n", 10_000), progress)
    return _write_chunks(patients(**parameters), out, to, parameters.get("n", 10_000), progress)


def _write_people(chunks: Iterator[Transactions], out: str | os.PathLike[str], n: int, progress: Progress) -> int:
    """A row per patient and diagnosis, with the patient's columns; returns how many patients."""
    n_people = 0
    try:
        with open(out, "w", encoding="utf-8", newline="\n") as file:
            for chunk in chunks:
                assert chunk.columns is not None
                if not n_people:
                    id_column, item_column = chunk.layout.id_column, chunk.layout.item_column
                    file.write(",".join([id_column, *chunk.columns.names, item_column]) + "\n")
                people = [",".join(cells) for cells in zip(*(one.to_list() for one in chunk.columns), strict=True)]
                labels = chunk.vocabulary.labels
                file.writelines(
                    f"{n_people + owner + 1},{people[owner]},{labels[item]}\n"
                    for owner, item in zip(chunk.owners.tolist(), chunk.items.tolist(), strict=True)
                )
                n_people += chunk.n_records
                progress("generating", min(n_people / max(n, 1), 1.0))
    except OSError as problem:
        raise InputError(f"{os.fspath(out)}: cannot be written ({problem.strerror}); check the path.") from None
    return n_people


def check_outputs(*paths: Path | None) -> None:
    """Files that are to be written: each in a folder that exists, none in place of a folder or of another."""
    positions = [path.resolve() for path in paths if path is not None]
    for number, place in enumerate(positions):
        if place.is_dir() or not place.parent.is_dir():
            raise InputError(f"{one_line(str(place), 120)}: cannot be written; check the path.")
        if place in positions[:number]:
            raise InputError(f"{one_line(str(place), 120)}: two files would be written there; choose another.")


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
    if written_format(to).in_pieces:
        return write_chunks(watched(), out, layout)
    data = collect(watched())  # these layouts need to know everything before the first record
    write_transactions(data, out, layout)
    return data.n_records


def write_patients_companion(what: str, path: Path) -> None:
    """The hierarchy, the sensitive codes or the disease groups that go with generated patients."""
    from setveil.generate import patients_groups, patients_hierarchy, patients_sensitive

    if what == "hierarchy":
        patients_hierarchy().to_file(str(path))
        return
    lines = patients_sensitive() if what == "sensitive" else map(",".join, patients_groups().values())
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
