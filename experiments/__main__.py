"""``python -m experiments NAME|all --data DIR -o OUT``: run the papers' experiments again."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from experiments.catalogue import PAPERS, choose
from experiments.claims import Verdict, verdict
from experiments.datasets import report_data
from experiments.pages import readings_of
from experiments.runner import PAGE, draw_all, reproduce
from setveil.errors import InputError, SetveilError, is_interrupt


def main(arguments: Sequence[str]) -> int:
    """Run what is asked for; every error is one line and an exit code."""
    try:
        return _run(_parser().parse_args(arguments))
    except SetveilError as problem:
        print(f"experiments: {problem}", file=sys.stderr)
        return problem.exit_code
    except (KeyboardInterrupt, SystemError) as problem:
        if not is_interrupt(problem):
            raise
        print("experiments: stopped; experiments that were done are kept.", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments",
        description="Run the experiments of the papers again: figures drawn, the papers' numbers beside ours.",
    )
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME|all|data",
        help="experiments (001-fig9), papers (001), or all; data: check the data sets; nothing: list the experiments",
    )
    parser.add_argument(
        "--data",
        metavar="DIR",
        default=os.environ.get("SETVEIL_DATA"),
        help="folder with the data sets (BMS1.dat.gz and others)",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        type=Path,
        default=Path(),
        help="where reproduction.md and its folder go; results of other experiments that are there are kept",
    )
    parser.add_argument("--jobs", metavar="N", type=int, default=1, help="experiments side by side, default 1")
    parser.add_argument("--missing", action="store_true", help="leave out what OUT has results of")
    parser.add_argument(
        "--draw", metavar="DIR", type=Path, help="run nothing; draw every panel of the results in OUT into this folder"
    )
    return parser


def _run(asked: argparse.Namespace) -> int:
    if asked.names == ["data"]:
        return report_data(asked.data)
    experiments = choose(asked.names or ["all"])
    if not asked.names:
        for experiment in experiments:
            needs = f" ({', '.join(experiment.needs)})" if experiment.needs else ""
            print(f"{experiment.name:14}{experiment.title}{needs}")
        return 0
    if asked.draw is not None:
        print(f"{len(draw_all(asked.names, asked.output, asked.draw))} pictures in {asked.draw}")
        return 0
    if asked.data is None:
        raise InputError("the data sets are needed; name their folder with --data DIR.")
    results = reproduce(asked.names, asked.data, asked.output, max(asked.jobs, 1), asked.missing)
    for paper in PAPERS:
        verdicts = [verdict(readings) for readings in readings_of(paper, results).values()]
        if verdicts:
            print(f"{paper.number}: " + ", ".join(f"{verdicts.count(each)} {each}" for each in Verdict))
    print(f"Page: {asked.output / PAGE}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
