"""``python -m experiments NAME|all --data DIR -o OUT``: run the papers' experiments again."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from experiments.catalogue import choose
from experiments.page import count
from experiments.runner import reproduce
from setveil.errors import InputError, SetveilError


def main(arguments: Sequence[str]) -> int:
    """Run what is asked for; every error is one line and an exit code."""
    try:
        return _run(_parser().parse_args(arguments))
    except SetveilError as problem:
        print(f"experiments: {problem}", file=sys.stderr)
        return problem.exit_code
    except (KeyboardInterrupt, SystemError) as problem:
        if not _is_interrupt(problem):
            raise
        print("experiments: stopped; nothing was written.", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments",
        description="Run the experiments of the papers again: figures drawn, the papers' numbers beside ours.",
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME|all", help="experiments (001-fig9), papers (001), or all; nothing: list them"
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
        help="where reproduction.md and its folder go; what an earlier run wrote there is replaced",
    )
    return parser


def _run(asked: argparse.Namespace) -> int:
    experiments = choose(asked.names or ["all"])
    if not asked.names:
        for experiment in experiments:
            needs = f" ({', '.join(experiment.needs)})" if experiment.needs else ""
            print(f"{experiment.name:14}{experiment.title}{needs}")
        return 0
    if asked.data is None:
        raise InputError("the data sets are needed; name their folder with --data DIR.")
    for result in reproduce(asked.names, asked.data, asked.output, _tell if sys.stderr.isatty() else None):
        agree, disagree, apart = count(result)
        told = f"{agree} agree, {disagree} disagree, {apart} not comparable" if result.outcome else result.reason
        print(f"{result.experiment.name:14}{told}")
    print(f"Page: {asked.output / 'reproduction.md'}")
    return 0


def _tell(what: str, share: float | None) -> None:
    """What is being done now, on one line of the terminal."""
    print(f"\r\x1b[K{share or 0:4.0%} {what}", end="", file=sys.stderr, flush=True)


def _is_interrupt(problem: BaseException | None) -> bool:
    """Whether Ctrl-C is behind a problem: in the middle of a kernel it comes as the cause of a system error."""
    while isinstance(problem, SystemError):
        problem = problem.__cause__
    return isinstance(problem, KeyboardInterrupt)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
