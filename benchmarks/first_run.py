"""``python -m benchmarks.first_run --data DIR``: the first run on a machine, when nothing is compiled.

Every line is one command with an empty folder for compiled loops: seconds on the clock and CPU seconds, then the same
command again (warm). ``--kernels`` lists what was compiled: CPU seconds of each loop alone, and with the loops that it
calls and that were compiled for it.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.commands import SETVEIL

EXAMPLES = Path(__file__).parent.parent / "docs" / "examples"
LISTED = 40  # kernels


def commands(data: Path, out: Path) -> dict[str, list[str]]:
    """What is run."""
    groceries, clicks = [str(data / "groceries.csv.gz")], [str(data / "BMS1.dat.gz")]
    taxonomy, tree = ["--hierarchy", str(data / "groceries_taxonomy.csv")], ["--hierarchy", "fanout:5"]
    six = [str(EXAMPLES / "baskets.txt"), "--hierarchy", str(EXAMPLES / "taxonomy.csv")]
    ask = ["anonymize", "-o", str(out), "--force", "--model", "km", "-m", "2"]
    return {
        "six baskets, aa": [*ask, "-k", "2", *six, "--algorithm", "aa"],
        "six baskets": [*ask, "-k", "2", *six],
        "groceries, aa": [*ask, "-k", "5", *groceries, *taxonomy, "--algorithm", "aa"],
        "groceries": [*ask, "-k", "5", *groceries, *taxonomy],
        "groceries, no tree": [*ask, "-k", "5", *groceries],
        "BMS-WebView-1, aa": [*ask, "-k", "5", *clicks, *tree, "--algorithm", "aa"],
        "BMS-WebView-1": [*ask, "-k", "5", *clicks, *tree],
        "BMS-WebView-1, no tree": [*ask, "-k", "5", *clicks],
    }


def run_timed(command: list[str], cache: Path) -> tuple[float, float]:
    """Seconds on the clock and CPU seconds of a command and of what it starts."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([*SETVEIL, *command], env=environment, check=True, capture_output=True)
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def list_kernels(command: list[str]) -> None:
    """Run a command in this process and print what was compiled; the cache has to be empty."""
    from numba.core import event

    from setveil.cli.main import _run

    class Stopwatch(event.Listener):
        """Seconds by kernel; kernels are compiled while their callers are."""

        def __init__(self) -> None:
            self.running: list[list[float]] = []
            self.rows: list[tuple[float, float, str]] = []

        def on_start(self, started: Any) -> None:
            self.running.append([time.thread_time(), 0.0])

        def on_end(self, ended: Any) -> None:
            started, inside = self.running.pop()
            seconds = time.thread_time() - started
            if self.running:
                self.running[-1][1] += seconds
            loop = ended.data["dispatcher"].py_func
            self.rows.append((seconds - inside, seconds, f"{loop.__module__}.{loop.__qualname__}"))

    stopwatch = Stopwatch()
    event.register("numba:compile", stopwatch)
    started = time.process_time()
    _run(["--quiet", *command])
    total = sum(row[0] for row in stopwatch.rows)
    print(f"{time.process_time() - started:.1f} s, of which {total:.1f} s compiled {len(stopwatch.rows)} loops")
    for alone, seconds, name in sorted(stopwatch.rows, reverse=True)[:LISTED]:
        print(f"{alone:6.2f} {seconds:6.2f}  {name}")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="The first run on a machine.")
    parser.add_argument("--data", type=Path, default=os.environ.get("SETVEIL_DATA"), help="folder of the data sets")
    parser.add_argument("--kernels", metavar="COMMAND", help='list what is compiled for one of them, e.g. "groceries"')
    options = parser.parse_args()
    if options.data is None:
        parser.error("give --data DIR or set SETVEIL_DATA")
    with tempfile.TemporaryDirectory() as temporary:
        cache, known = Path(temporary) / "kernels", commands(options.data, Path(temporary) / "out")
        if options.kernels:
            if options.kernels not in known:
                parser.error(f"--kernels takes one of: {'; '.join(known)}")
            os.environ["NUMBA_CACHE_DIR"] = str(cache)
            list_kernels(known[options.kernels])
            return
        print(f"{'':24}{'first: wall':>13}{'CPU':>7}{'again: wall':>14}{'CPU':>7}")
        for number, (name, command) in enumerate(known.items()):
            first, again = (run_timed(command, cache / str(number)) for _ in range(2))
            print(f"{name:24}{first[0]:13.2f}{first[1]:7.2f}{again[0]:14.2f}{again[1]:7.2f}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
