"""``python -m setveil.workflows.warm [ALGORITHM …]``: compile every kernel once, so that no later run waits for it.

What all algorithms share is compiled first; then the algorithms are dealt out to one process per core.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from setveil.algorithms import ENTRIES, find
from setveil.arrays.mining import index_rows, list_matches
from setveil.arrays.rows import pack_columns, renumber_rows, take_rows
from setveil.arrays.text import join_rows, no_texts, pack_texts
from setveil.core import Transactions
from setveil.errors import SetveilError
from setveil.models import MODELS, KmAnonymity, make_model
from setveil.releases import Release
from setveil.utility.avg_re import query_errors
from setveil.utility.tasks import measure_tasks
from setveil.workflows.anonymize import anonymize
from setveil.workflows.assess import attack, risk, verify
from setveil.workflows.explore import rarest
from setveil.workflows.publish import publish
from setveil.workflows.reading import as_transactions


def warm(names: Sequence[str], *, with_hierarchy: bool = False) -> None:
    """Run algorithms for every model they enforce on a handful of records; publish, attack and measure each result.

    ``with_hierarchy``: give one to those that can go without, too.
    """
    data = _few_records(2)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for entry in map(find, names):
            for name in entry.models:
                model = make_model(name, MODELS[name].example)
                takes_one = entry.hierarchy == "required" or (with_hierarchy and entry.hierarchy == "optional")
                hierarchy = "fanout:2" if takes_one else None
                try:
                    release = anonymize(data, model, entry.name, hierarchy)
                    risk(data)
                    attack(data, release, known=(1,), targets=2, sensitive=["9"])
                    publish(release, Path(folder) / f"{entry.name}-{name}", accept_guessable=True)
                    warm_for_many(data)
                    measure_tasks(data, release, n_queries=2)
                except SetveilError:  # an infeasible ask has compiled what it needed
                    continue
        pairs = [{"1", "2"}, {"1", "2", "3"}, {"2", "3"}, {"1", "3"}]  # no record twice: the verifier walks
        verify(pairs, KmAnonymity(k=2, m=2))
        risk(data, known=(3,), budget=0)  # sampled


def warm_beside(plans: Iterable[str]) -> None:
    """What a run needs that says line by line which algorithms it will try: these as they are listed, and publishing
    after the first. The run itself begins with the last one.
    """
    data, warmed = _few_records(1), set[str]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for plan in plans:
            model_name, tree, *names = plan.split()
            model = make_model(model_name, MODELS[model_name].example)
            for entry in map(find, names):
                if entry.name in warmed:
                    continue
                warmed.add(entry.name)
                entry.load().compile_longest()
                takes_one = entry.hierarchy == "required" or (tree == "tree" and entry.hierarchy == "optional")
                with suppress(SetveilError):  # an infeasible ask has compiled what it needed
                    release = anonymize(data, model, entry.name, "fanout:2" if takes_one else None)
                    if len(warmed) == 1:
                        _warm_publishing(data, release)


def _warm_publishing(data: Transactions, release: Release) -> None:
    warm_writing(data)
    query_errors(data, release)
    list_matches(index_rows(data.indptr, data.items, data.n_items), np.arange(1, dtype=np.int32))
    with tempfile.TemporaryDirectory() as folder:
        publish(release, Path(folder) / "out", accept_guessable=True)


def _few_records(times: int) -> Transactions:
    return Transactions.from_lists([[1, 2, 3], [1, 2], [2, 3, 4], [1, 3, 9], [4, 5], [5, 6], [1, 6], [2, 6]] * times)


def warm_for_many(data: Transactions) -> None:
    """What reading, ordering and writing need where there are more than a few records."""
    indptr, items, everything = data.indptr, data.items, np.arange(data.n_records)
    take_rows(indptr, items, everything)
    renumber_rows(indptr, items, np.arange(data.n_items, dtype=np.int32))
    pack_columns(indptr, items, everything, 0, 1, 32)
    index_rows(indptr, items, data.n_items)
    warm_writing(data)


def warm_writing(data: Transactions) -> None:
    """What writing needs where there are more than a few records."""
    labels, marks = pack_texts([label.encode() for label in data.vocabulary]), pack_texts([b" ", b"\n"])
    join_rows(data.indptr, data.items, labels, no_texts(data.n_records), marks, False)


def warm_looking() -> None:
    """What reading a file and looking at its risk needs."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "few.dat"
        path.write_text("1 2 3\n2 3\n1 3 4\n" * 4, encoding="ascii")
        data = as_transactions(str(path))
        risk(data)
        rarest(data)


def main() -> None:
    """Warm what is named, or everything; ``--beside``: what a run needs that says so on standard input."""
    if sys.argv[1:] == ["--beside"]:
        warm_beside(sys.stdin)
        return
    if sys.argv[1:]:
        warm(sys.argv[1:])
        return
    first, *rest = (entry.name for entry in ENTRIES)
    warm([first])
    n_processes = os.cpu_count() or 1
    shares = [rest[number::n_processes] for number in range(n_processes)]
    running = [
        subprocess.Popen([sys.executable, "-P", "-m", "setveil.workflows.warm", *share]) for share in shares if share
    ]
    statuses = [process.wait() for process in running]  # wait for all of them
    if any(statuses):
        sys.exit("some kernels could not be compiled beforehand; they will be when they are first needed.")


if __name__ == "__main__":
    main()
