"""``aa`` beside other programs for k^m-anonymity, where you have them. None of them is part of this project.

    python -m benchmarks.peers --data DIR --peer "arx=java -cp arx.jar:. Driver {data} {levels} {k} {m} {out}"

Each ``--peer NAME=COMMAND`` is run on the same records, hierarchy, k and m as ``setveil anonymize --algorithm aa``, one
after the other, ``--repeat`` times; the least CPU time (user plus system, all threads, start included) counts.
A command may use these names in braces:

- ``{data}``: one record per line, items separated by blanks (FIMI);
- ``{table}``: a CSV of two columns, record and item;
- ``{levels}``: the hierarchy, a CSV with a header and one line per item: item, parent, …, root;
- ``{amnesia}``: the hierarchy in Amnesia's own format;
- ``{k}``, ``{m}``, and ``{out}``, a folder of its own for what the program writes.

Braces of the command itself are doubled. What a program prints on standard output is not shown.

How to prepare the programs:

- *ARX* is a Java library. Write a small class that reads ``{data}`` and ``{levels}``, sets the privacy model and
  writes the result; give the command with the paths of its jar and of your class.
- *Amnesia* is a Java program with a page. Its jar can be called without the page by a small class that loads ``{data}``
  and ``{amnesia}`` and runs its k^m algorithm.
- *Gong's programs* (AA and others, C++ and Java) are called with the files and numbers as their own notes say.

What a program does in that time differs: ours also assesses the risk before and after, reads its files back, verifies
them, measures the utility and writes reports. ``ratio`` is the program's time divided by ours; "exit N" says that it
ended with an error.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import tempfile
from pathlib import Path

from benchmarks.commands import SETVEIL, run_measured
from benchmarks.data_sets import DataSet, data_sets

NAMES = ("data", "table", "levels", "amnesia", "k", "m", "out")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="aa beside other programs for k^m-anonymity.")
    parser.add_argument("--data", type=Path, default=os.environ.get("SETVEIL_DATA"), help="folder of the data sets")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=COMMAND", help="a program to compare with")
    parser.add_argument("--only", default="", help="data sets, separated by commas")
    parser.add_argument("-k", type=int, default=5)
    parser.add_argument("-m", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3, help="runs of each command")
    options = parser.parse_args()
    if options.data is None:
        parser.error("give --data DIR or set SETVEIL_DATA")
    peers = dict(peer.split("=", 1) for peer in options.peer if "=" in peer)
    if len(peers) < len(options.peer) or not peers:
        parser.error("give --peer NAME=COMMAND, once for each program")
    for name, text in peers.items():
        try:
            program = shlex.split(text.format(**dict.fromkeys(NAMES, "-")))[0]
        except (KeyError, IndexError, ValueError):
            parser.error(f"--peer {name}: give a program; names in braces are {', '.join(NAMES)}; double other braces")
        if shutil.which(program) is None:
            parser.error(f"--peer {name}: there is no program {program}")
    print(f"{'data':12}{'program':14}{'CPU s':>9}{'MB':>8}{'ratio':>8}")
    with tempfile.TemporaryDirectory() as temporary:
        for data in data_sets(options.data, Path(temporary)):
            if not options.only or data.name in options.only.split(","):
                compare(data, peers, options.k, options.m, options.repeat, Path(temporary))


def compare(data: DataSet, peers: dict[str, str], k: int, m: int, repeat: int, folder: Path) -> None:
    """The lines of one data set."""
    names = {**prepare(data, folder), "k": str(k), "m": str(m), "out": str(folder / "peer")}
    aa = [*SETVEIL, "--quiet", "anonymize", names["data"], "-o", str(folder / "out"), "--force"]
    aa += ["--model", "km", "-k", str(k), "-m", str(m), "--algorithm", "aa", "--hierarchy", names["levels"]]
    commands = {"setveil aa": aa} | {name: shlex.split(text.format(**names)) for name, text in peers.items()}
    least: dict[str, tuple[float, float]] = {}
    failed: dict[str, int] = {}
    for _ in range(repeat):
        for name, command in commands.items():
            (folder / "peer").mkdir(exist_ok=True)
            found = [str(shutil.which(command[0])), *command[1:]]
            status, cpu, megabytes, _ = run_measured(found, folder / "stdout", {})
            shutil.rmtree(folder / "peer")
            if status:
                failed[name] = status
            least[name] = min(least.get(name, (cpu, megabytes)), (cpu, megabytes))
    for name, (cpu, megabytes) in least.items():
        shown = f"{cpu:>9.2f}{megabytes:>8.0f}{cpu / least['setveil aa'][0]:>8.1f}"
        print(f"{data.name:12}{name:14}" + (f"  exit {failed[name]}" if name in failed else shown), flush=True)


def prepare(data: DataSet, folder: Path) -> dict[str, str]:
    """The records, with numbers for items, and a balanced hierarchy of fan-out 5, in the layouts that programs read."""
    import setveil as sv

    records = sv.read(data.path)
    paths = {name: folder / f"{data.name}.{name}" for name in ("data", "table", "levels", "amnesia")}
    lines = [" ".join(map(str, records.record(record).tolist())) for record in range(records.n_records)]
    paths["data"].write_text("".join(f"{line}\n" for line in lines if line), encoding="ascii")
    pairs = [f"{record + 1},{item}\n" for record, line in enumerate(lines) for item in line.split()]
    paths["table"].write_text("".join(("record,item\n", *pairs)), encoding="ascii")
    hierarchy = sv.Hierarchy.balanced(sv.read(paths["data"]), 5)
    hierarchy.to_file(str(paths["levels"]), "csv")
    hierarchy.to_file(str(paths["amnesia"]), "amnesia")
    return {name: str(path) for name, path in paths.items()}


if __name__ == "__main__":
    main()
