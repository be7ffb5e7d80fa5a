"""Data comes in here: one door from any file or object to Transactions, for every function a user calls."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setveil.core import Transactions, Vocabulary

if TYPE_CHECKING:
    from setveil.policy.schema import Policy


def as_transactions(data: Any, format: str | None = None, **options: Any) -> Transactions:
    """Data as given to the library: Transactions, a file (path or open), standard input (``-``) or a Python object."""
    if isinstance(data, str | os.PathLike) or hasattr(data, "read"):
        from setveil.io.transactions.reading import read_transactions

        return read_transactions(data, format=format, **options)
    if isinstance(data, Transactions):
        return data
    from setveil.io.transactions.objects import from_object

    return from_object(data, **options)


def read(source: Any, format: str | None = None, **options: Any) -> Transactions:
    """Read a file (any layout, plain or .gz), standard input (``-``) or a Python object (lists, frames, sparse matrix)."""
    return as_transactions(source, format, **options)


def read_input(source: Any, policy: Policy) -> tuple[Transactions, dict[str, Any]]:
    """The data a policy is about, and what the internal record says about where it came from."""
    options = policy.input.model_dump(exclude={"domain"}, exclude_none=True)
    data = as_transactions(source, **options, keep_ids=policy.output.keep_ids)
    if policy.input.domain:
        from setveil.policy.selection import read_items

        data = data.over(Vocabulary({*data.vocabulary, *read_items(policy.input.domain)}))
    return data, _facts_about(source)


def _facts_about(source: Any) -> dict[str, Any]:
    if source == "-":
        return {"name": "standard input"}
    with open(source, "rb") as file:
        return {"name": Path(source).name, "sha256": hashlib.file_digest(file, "sha256").hexdigest()}
