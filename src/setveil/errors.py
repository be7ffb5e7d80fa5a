"""The errors of setveil.

    SetveilError                 exit 4   an internal error of setveil
    ├── InputError               exit 2   a file, an option or a policy is wrong; says where and how to fix it
    ├── InfeasibleError          exit 3   no release can meet the request; names the items in the way
    ├── GuaranteeError           exit 1   a guarantee is not met; nothing is published
    ├── UncheckedError           exit 5   a guarantee cannot be verified here, or not within the limits
    ├── AlreadyPublishedError    exit 6   nothing to do: the same release is already there
    └── CancelledError           exit 130 the user cancelled a run; nothing was written

Messages are one line: what is wrong, where (``file:line``), how to fix it. They may name items, never records. They
are written with the options of the command line; in Python they name the arguments instead:
``--no-header`` is ``no_header=True``.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class SetveilError(Exception):
    """An internal error of setveil, and the base class of all errors."""

    exit_code = 4

    def __str__(self) -> str:
        return _spoken(super().__str__())


class InputError(SetveilError):
    """Bad input or usage."""

    exit_code = 2


class InfeasibleError(SetveilError):
    """No release can meet the request; ``items`` are the labels in the way.

    Examples:
        >>> import setveil as sv
        >>> try:
        ...     sv.anonymize([["a"], ["b"]], "km", k=5, m=1, algorithm="aa", hierarchy="fanout:2")
        ... except sv.InfeasibleError as problem:
        ...     print(problem)
        2 records have items, fewer than k=5; lower k or add records.
    """

    exit_code = 3

    def __init__(self, message: str, items: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.items = tuple(items)


class GuaranteeError(SetveilError):
    """A guarantee is not met."""

    exit_code = 1


class UncheckedError(SetveilError):
    """A guarantee cannot be verified here."""

    exit_code = 5


class AlreadyPublishedError(SetveilError):
    """The same release is already there; nothing was written."""

    exit_code = 6


class CancelledError(SetveilError):
    """The user cancelled the run."""

    exit_code = 130


class SetveilWarning(UserWarning):
    """A remark about a request that is allowed, for example an unknown item in a constraint."""

    def __str__(self) -> str:
        return _spoken(super().__str__())


_heard: ContextVar[list[str] | None] = ContextVar("heard", default=None)  # of the run that is under way, if any
_OURS = (os.path.dirname(__file__), contextlib.__file__)  # noqa: PTH120 - files that no user's call stands in


def warn(text: str) -> None:
    """Warn the user. A run that is under way collects it; otherwise it is a SetveilWarning at the caller's line.

    Nothing of this is shared between threads, as the filters of ``warnings`` are.
    """
    collected = _heard.get()
    if collected is not None:
        collected.append(str(SetveilWarning(text)))
        return
    depth, frame = 1, sys._getframe()
    while frame is not None and frame.f_code.co_filename.startswith(_OURS):
        depth, frame = depth + 1, frame.f_back  # type: ignore[assignment]
    warnings.warn(text, SetveilWarning, stacklevel=depth)


@contextmanager
def unheard_warnings() -> Iterator[list[str]]:
    """Collect what the user would be warned of meanwhile, and do not show it."""
    collected: list[str] = []
    token = _heard.set(collected)
    try:
        yield collected
    finally:
        _heard.reset(token)


@contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """Collect what the user is warned of meanwhile, for the record, and show it at the end."""
    with unheard_warnings() as collected:
        yield collected
    for text in collected:
        warn(text)


def is_interrupt(problem: BaseException | None) -> bool:
    """Whether Ctrl-C is behind a problem: in the middle of a kernel it comes as the cause of a system error."""
    while isinstance(problem, SystemError):
        problem = problem.__cause__
    return isinstance(problem, KeyboardInterrupt)


# -- options and arguments --------------------------------------------------------------------------------------------

_SWITCHES = "no-header strip labels-as-they-are force keep-ids keep-order publish-constraints accept-guessable"
_VALUES: dict[str, str] = {  # options and the words that may follow as their value; quoted text and numbers always may
    "encoding": "latin-1 cp1252 utf-16",
    "hierarchy": "FILE auto",
    "hierarchy-format": "csv edges amnesia amnesia-json nodes paths indented mesh",
    "unknown-items": "root error suppress",
    "engine": "local spark",
    "master": "",
    "hierarchy-columns": "",
    **dict.fromkeys(
        [
            "original",
            "time-limit",
            "known",
            "domain",
            "policy",
            "seed",
            "algorithm",
        ],
        "",
    ),
    **dict.fromkeys(["effort", "yardstick"], ""),
}
_OPTION = re.compile(r"""(?<![\w-])--([a-z]+(?:-[a-z]+)*)(?: ("[^"]*"|'[^']*'|\d+(?!\w)|[A-Za-z][\w-]*))?""")
_speaks_of_options = False


def name_option(name: str, values: str = "") -> None:
    """Declare an option that messages may name, and the words that may follow it as a value."""
    _VALUES.setdefault(name.replace("_", "-"), values)


@contextmanager
def speaking_of_options() -> Iterator[None]:
    """Within this context messages name command-line options."""
    global _speaks_of_options
    before, _speaks_of_options = _speaks_of_options, True
    try:
        yield
    finally:
        _speaks_of_options = before


def _spoken(text: str) -> str:
    return text if _speaks_of_options or "--" not in text else _OPTION.sub(_argument, text)


def _argument(found: re.Match[str]) -> str:
    """``--format long`` as ``format="long"``; other text is not changed."""
    option, value = found[1], found[2] or ""
    name, rest = option.replace("-", "_"), f" {value}" if value else ""
    if option in _SWITCHES.split():
        return f"{name}=True{rest}"
    if option not in _VALUES:
        return found[0]
    if (value[:1] in ("'", '"') and value) or value.isdigit():
        return f"{name}={value}"
    return f'{name}="{value}"' if value and value in _VALUES[option].split() else f"{name}{rest}"


def times(number: int, one: str, many: str = "") -> str:
    """``1 record``, ``3 records``; ``many``: the words for all other numbers, where these are not ``one`` and an s."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def name_some(labels: Iterable[str], limit: int = 5) -> str:
    """``"beer", "wine" and 7 more``: at most ``limit`` labels, for an error message."""
    known = list(labels)
    shown = ", ".join(f'"{one_line(label)}"' for label in known[:limit])
    return shown if len(known) <= limit else f"{shown} and {len(known) - limit:,} more"


def one_line(text: str, limit: int = 60) -> str:
    """Text from a file as it may be shown: one line, at most ``limit`` characters, no control characters.

    Control characters, marks of writing direction and other invisible characters are shown as escapes. Long text is
    cut in the middle.
    """
    if len(text) > 2 * limit:  # escapes only make it longer
        text = f"{text[:limit]}…{text[-limit:]}"
    shown = text if text.isprintable() else printable(text)
    tail = limit // 3
    return shown if len(shown) <= limit else f"{shown[: limit - tail - 1]}…{shown[len(shown) - tail :]}"


def printable(text: str, kept: str = "") -> str:
    """The text with every invisible character escaped, except those in ``kept``."""
    return "".join(
        character if character.isprintable() or character in kept else character.encode("unicode_escape").decode()
        for character in text
    )
