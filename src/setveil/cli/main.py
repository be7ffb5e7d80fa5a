"""The command ``setveil``: one file per command, no logic."""

from __future__ import annotations

import atexit
import errno
import gc
import inspect
import os
import sys
import traceback
from functools import cache
from importlib import import_module
from itertools import pairwise
from typing import Any

import typer

from setveil.cli import is_loaded, is_loading
from setveil.cli.app import app
from setveil.cli.console import be_quiet, complain, is_lost, note, say, show_warnings
from setveil.cli.usage import refuse_repeated, usage_words
from setveil.errors import InputError, SetveilError, is_interrupt, one_line, speaking_of_options

# Typer brings its own click; the common root of its usage errors is found through a class it does export.
_UsageProblem: Any = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")

# Files that cannot be what was asked for; of any other trouble with files whoever asked is innocent.
NO_PLACE = frozenset(
    (
        errno.ENOENT,
        errno.EISDIR,
        errno.ENOTDIR,
        errno.EEXIST,
        errno.EACCES,
        errno.ENAMETOOLONG,
        errno.EINVAL,
        errno.ELOOP,
    )
)

LAST_STREAM = 2  # the number of standard error


@app.callback()
def _start(
    version: bool = typer.Option(False, "--version", help="Print the version and exit."),
    verbose: bool = typer.Option(False, "-v", "--verbose", help="Show a traceback for internal errors."),
    quiet: bool = typer.Option(False, "--quiet", help="Only results and problems: no remarks, no progress."),
) -> None:
    """Both switches may stand anywhere: ``_switched`` takes them out before."""


def _switched(arguments: list[str]) -> list[str]:
    """The arguments without ``-v`` and ``--quiet``, which are obeyed wherever they stand."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    given = set(arguments[:end])
    if given & {"-v", "--verbose"}:
        os.environ["SETVEIL_VERBOSE"] = "1"
    be_quiet("--quiet" in given)
    return [word for word in arguments[:end] if word not in ("-v", "--verbose", "--quiet")] + arguments[end:]


def _refuse_empty(arguments: list[str]) -> None:
    """An option with nothing after it is a variable that was not set, and hardly meant to be overlooked."""
    for before, word in pairwise(["", *arguments]):
        name, _, value = word.partition("=")
        is_unset = name.startswith("--") and "=" in word and not value
        if is_unset or (before.startswith("-") and before != "--" and not word):
            raise InputError(f"{one_line(name if is_unset else before)} is empty; remove it, or set a value.")
    if "" in arguments:
        raise InputError("an argument is empty; name a file or folder.")


def _register() -> None:
    names = (
        "roles risk anonymize apply verify measure query attack compare suggest hierarchy constraints generate "
        "algorithms demo ui help"
    )
    for name in names.split():
        import_module(f"setveil.cli.{name}")
    for command in app.registered_commands:  # shown in full in the list of commands, too
        help_text = inspect.getdoc(command.callback) or ""
        command.short_help = " ".join(help_text.split("\n\n")[0].split())


_unusable: SetveilError | None = None  # a plug-in that cannot be loaded; ``_run`` says so
try:
    _register()
except SetveilError as problem:
    _unusable = problem
is_loaded()


def _open_closed_streams() -> None:
    """Where standard streams are closed, text leads nowhere, and no file that is opened later takes their place."""
    while (place := os.open(os.devnull, os.O_RDWR)) <= LAST_STREAM:
        os.set_inheritable(place, True)
    os.close(place)
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 (open to the end)


def main() -> None:
    """Run a command; every error is one line and an exit code."""
    _open_closed_streams()
    is_loading()  # until there is somebody to catch it
    gc.set_threshold(200_000, 20, 100)  # the data are arrays: frequent hunts for cycles cost a sixth of a short command
    status = _run(sys.argv[1:])
    is_printed = not is_lost()
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except BrokenPipeError:
            pass
        except OSError:  # a full disk: what was to be shown is lost
            is_printed = False
    if not is_printed and status in (0, 1):  # an answer that nobody has seen is neither "fine" nor "broken"
        status = 4
    # Taking the interpreter apart piece by piece costs as much as a small release; the operating system does it at
    # once.
    atexit._run_exitfuncs()
    os._exit(status)


def _stopped() -> int:
    note("setveil: cancelled; nothing was written.")
    return 130


def _run(arguments: list[str]) -> int:
    with speaking_of_options():
        return _run_command(arguments)


@cache
def _commands() -> Any:
    """All commands with their options; made once, for whoever runs several in one process."""
    return typer.main.get_command(app)


def _run_command(arguments: list[str]) -> int:
    show_warnings()
    try:
        is_loaded()
        if _unusable is not None:
            raise _unusable
        if arguments == ["--version"]:
            from setveil import __version__

            say(f"setveil {__version__}")
            return 0
        _refuse_empty(arguments)
        refuse_repeated(_commands(), arguments)
        status = _commands()(_switched(arguments), prog_name="setveil", standalone_mode=False)
    except _UsageProblem as problem:
        where = getattr(problem, "ctx", None)
        command = where.command_path if where else "setveil"
        if type(problem).__name__ == "NoArgsIsHelpError":
            note(problem.format_message())
        else:
            complain(f"{command}: {usage_words(problem)}. See {command} --help.")
        return 2
    except typer.Exit as ended:
        return ended.exit_code
    except SetveilError as problem:
        complain(f"setveil: {problem}")
        return problem.exit_code
    except (KeyboardInterrupt, typer.Abort):
        return _stopped()
    except (BrokenPipeError, SystemExit) as ended:  # whoever read the output has gone; Typer leaves on its own then
        is_fine = isinstance(ended, SystemExit) and not ended.code  # completion, which also leaves on its own
        return 0 if is_fine else 141  # as if ended by SIGPIPE: what was not delivered is not called fine
    except OSError as problem:
        if problem.errno in NO_PLACE:
            complain(f"setveil: {one_line(str(problem.filename), 120)}: {problem.strerror}; choose another file.")
            return 2
        complain(f"setveil: {problem.strerror or problem}; nothing more was written.")
        return 4
    except MemoryError:
        note("setveil: out of memory; try a smaller m, an algorithm that scales, or a larger machine.")
        return 4
    except Exception as problem:
        if is_interrupt(problem):
            return _stopped()
        if os.environ.get("SETVEIL_VERBOSE"):
            note(traceback.format_exc())
            return 4
        from setveil.workflows.cluster import spark_reason

        if reason := spark_reason(problem):
            complain(f"setveil: {reason}")
            return 4
        note(
            f"setveil: internal error ({type(problem).__name__}); run again with `setveil -v …` and report "
            "what it shows."
        )
        return 4
    return _stopped() if status == 130 else int(status or 0)  # Typer turns Ctrl-C into 130
