"""The data sets of the experiments: where each comes from, how it was prepared, and whether a folder has the same.

None of them is part of the project. ``python -m experiments data --data DIR`` checks what is there.
"""

from __future__ import annotations

import gzip
import hashlib
import os
from pathlib import Path
from typing import NamedTuple

from experiments.experiment import data_folder
from setveil.errors import InputError


class Source(NamedTuple):
    """A file, by its content: how it was compressed does not matter."""

    file: str
    origin: str
    prepared: str
    n_records: int
    sha256: str  # of the content, decompressed


SOURCES = (
    Source(
        "BMS1.dat.gz",
        "BMS-WebView-1, click streams of KDD Cup 2000 (Kohavi and others); in the collections of SPMF and FIMI",
        "one session per line, numbers of pages between blanks",
        59_602,
        "f875156ca34e8612a6555c1ffc15a313d9fdfe8074a5bc0feda1c6cfd7e922f5",
    ),
    Source(
        "BMS2.dat.gz",
        "BMS-WebView-2, of the same source",
        "as BMS1",
        77_512,
        "4cd78d2d07a0ae3ee4b471b19260c1a2d5252301657d7e9dd33335e4c10f39df",
    ),
    Source(
        "mushroom.dat.gz",
        "mushroom of the UCI repository, as in the collection of FIMI",
        "the attributes of the class removed",
        8_124,
        "b13effc25fa6ad9458cade61bef7ef734639868032dc48751934558ecead845b",
    ),
    Source(
        "mushroom-fimi.dat.gz",
        "mushroom of the collection of FIMI",
        "unchanged, with the class; paper 004 uses it",
        8_124,
        "06206c73983251a9488414c4379a030e836bbeb6fe9eff1b5624a0193a811640",
    ),
    Source(
        "chess.dat.gz",
        "chess (king and rook against king and pawn) of the collection of FIMI",
        "unchanged",
        3_196,
        "7413af8897f89c7f394bfbe3f9c846e41231b3ded0c9c8d4c8f7b88b1183add1",
    ),
    Source(
        "groceries.csv.gz",
        "Groceries of the R package arules (Hahsler, Hornik, Reutterer)",
        "a header basket,item and one row per basket and item",
        9_835,
        "96cadb2759fc2019ba8bd6ecebfcea0829f45968e810fdb5e05c2ac23c78b7a6",
    ),
    Source(
        "groceries_taxonomy.csv",
        "the labels level1 and level2 of the same data",
        "item,category,department, one row per item",
        0,
        "a2815d55c79ad381d3d8090a12854d4041ead0d2e529d38903e6e204ec206c7b",
    ),
)


def state_of(source: Source, folder: Path) -> str:
    """``same``, ``missing`` or ``differs``."""
    path = folder / source.file
    if not path.is_file():
        return "missing"
    try:
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (OSError, EOFError):
        return "differs"
    return "same" if hashlib.sha256(content).hexdigest() == source.sha256 else "differs"


def report_data(folder: str | os.PathLike[str] | None) -> int:
    """Print every data set with its state; 0 if all are there and the same, else 2."""
    if folder is None:
        raise InputError("the data sets are needed; name their folder with --data DIR.")
    found = [(source, state_of(source, data_folder(folder))) for source in SOURCES]
    for source, state in found:
        records = f", {source.n_records:,} records" if source.n_records else ""
        print(f"{state:9}{source.file}: {source.origin}; {source.prepared}{records}")
        print(f"{'':9}SHA-256 of the content: {source.sha256}")
    return 0 if all(state == "same" for _, state in found) else 2
