"""Everything setveil raises on purpose.

    SetveilError                 exit 4   something is wrong inside setveil
    ├── InputError               exit 2   a file, an option or a policy is wrong; says where and how to fix it
    ├── InfeasibleError          exit 3   the ask cannot be met; names the items in the way
    ├── GuaranteeError           exit 1   a release does not keep its claim; it is not published
    └── CancelledError           exit 130 the user stopped a long run; nothing was written

Messages are one line: what was wrong, where (``file:line``), how to fix it. They may name items, never records.
"""

from __future__ import annotations

from collections.abc import Iterable


class SetveilError(Exception):
    """Root of the tree; raised itself only for faults of setveil."""

    exit_code = 4


class InputError(SetveilError):
    """Bad input or usage."""

    exit_code = 2


class InfeasibleError(SetveilError):
    """No release can meet the ask; ``items`` are the labels in the way."""

    exit_code = 3

    def __init__(self, message: str, items: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.items = tuple(items)


class GuaranteeError(SetveilError):
    """A release was found to break its claim."""

    exit_code = 1


class CancelledError(SetveilError):
    """A run was stopped from outside."""

    exit_code = 130


class SetveilWarning(UserWarning):
    """Something the user should know about an ask that is allowed all the same (k=1, an unknown item in a constraint)."""


def name_some(labels: Iterable[str], limit: int = 5) -> str:
    """``"beer", "wine" and 7 more``: labels in an error message, however many there are."""
    known = list(labels)
    shown = ", ".join(f'"{label}"' for label in known[:limit])
    return shown if len(known) <= limit else f"{shown} and {len(known) - limit:,} more"
