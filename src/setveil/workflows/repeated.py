"""The same request twice: a scheduler can tell "done already" from "broken"."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setveil.errors import AlreadyPublishedError, InputError, one_line
from setveil.io.releases.folders import CERTIFICATE, RECORD, internal_beside, read_record

if TYPE_CHECKING:
    from setveil.policy.schema import Policy

POLICY = "policy.toml"


def digest_if_repeated(out: str | os.PathLike[str], policy: Policy, source: Any) -> str | None:
    """The digest of the release in ``out`` if the same policy made it from the same file; None otherwise.

    Whether the result is the same is known only after the run: files that the policy names may have changed.
    """
    folder = Path(os.path.abspath(out))  # noqa: PTH100 (links stay as they are)
    if not folder.name:  # the root of the file system, which is refused later
        return None
    internal = internal_beside(folder)
    if not isinstance(source, str | os.PathLike) or not os.path.isfile(source) or not internal.is_dir():  # noqa: PTH113
        return None
    digest = read_record(folder / CERTIFICATE).get("digest")
    record = read_record(internal / RECORD)
    said = record.get("input")
    if not digest or record.get("certificate_digest") != digest or not isinstance(said, dict):
        return None
    try:
        is_same_policy = (internal / POLICY).read_text(encoding="utf-8") == policy.seen_from(internal).to_toml()
        with open(source, "rb") as file:
            is_same_input = said.get("sha256") == hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError):
        return None
    return str(digest) if is_same_policy and is_same_input else None


def refuse_repeated(out: Path, digest: str, earlier: str) -> None:
    """Nothing is written over a release that is there: the same one is no error, another one is."""
    shown = one_line(str(out), 120)
    if digest == earlier:
        raise AlreadyPublishedError(f"{shown}: nothing to do, the same release is already there.")
    raise InputError(f"{shown}: exists already and differs; choose another output or add --force.")
