"""The same request twice: a scheduler can tell "done already" from "broken"."""

from __future__ import annotations

import csv
import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setveil.errors import AlreadyPublishedError, InputError, name_some, one_line, times, warn
from setveil.io.releases.addresses import Address, as_address
from setveil.io.releases.folders import RECORD, internal_folder_of, read_record
from setveil.workflows.outputs import certificate_at

if TYPE_CHECKING:
    from setveil.policy.schema import Policy
    from setveil.releases import Release

POLICY, CODEBOOK, INTERNAL = "policy.toml", "codebook.csv", ".internal"


def digest_if_repeated(
    out: str | os.PathLike[str], policy: Policy, source: Any, master: str | None = None
) -> str | None:
    """The digest of the release in ``out`` if the same policy made it from the same input; None otherwise.

    Whether the result is the same is known only after the run: files that the policy names may have changed. What
    Spark reads has no hash, so that its name has to do.
    """
    address = as_address(out)
    folder = Path(os.path.abspath(out if address is None else address.name))  # noqa: PTH100 (links stay as they are)
    if not folder.name:  # the root of the file system, which is refused later
        return None
    internal = internal_folder_of(folder)
    if not isinstance(source, str | os.PathLike) or not internal.is_dir():
        return None
    if master is None and not os.path.isfile(source):  # noqa: PTH113
        return None
    digest = certificate_at(out, folder, master).get("digest")
    record = read_record(internal / RECORD)
    said = record.get("input")
    if not digest or record.get("certificate_digest") != digest or not isinstance(said, dict):
        return None
    try:
        is_same_policy = (internal / POLICY).read_text(encoding="utf-8") == policy.seen_from(internal).to_toml()
        if master is not None and said.get("sha256") is None:
            is_same_input = said.get("name") in (os.fspath(source), Path(source).name)
        else:
            with open(source, "rb") as file:
                is_same_input = said.get("sha256") == hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError):
        return None
    return str(digest) if is_same_policy and is_same_input else None


def warn_of_other_categories(policy: Path | None, release: Release) -> None:
    """Warn if a policy that an earlier release left behind now leads to other categories, as grown data may do.

    Who has both releases can tell more of people who are in both than either shows.
    """
    earlier = None if policy is None else Path(os.path.abspath(policy)).parent  # noqa: PTH100
    if earlier is None or not earlier.name.endswith(INTERNAL) or not release.is_uniform:
        return
    folder = earlier.with_name(earlier.name.removesuffix(INTERNAL))
    try:
        with (folder / CODEBOOK).open(encoding="utf-8", newline="") as file:
            before = [tuple(row) for row in csv.reader(file)][1:]
    except (OSError, UnicodeError, csv.Error):
        return
    old, new = _companions(before), _companions(release.codebook_rows())
    known = old.keys() & new.keys()
    other = sorted(item for item in known if old[item] & known != new[item] & known)
    fresh = sorted(new.keys() - old.keys())
    if other:
        warn(
            f"the categories differ from those of {one_line(folder.name, 60)}, from which this policy comes: "
            f"{times(len(other), 'item is', 'items are')} published in another way ({name_some(other, 3)}). Anyone "
            f"who has both releases can learn more than either shows. `setveil apply {one_line(folder.name, 60)} "
            "INPUT -o OUT` keeps the categories."
        )
    if fresh:
        warn(f"{times(len(fresh), 'item is', 'items are')} not in {one_line(folder.name, 60)}: {name_some(fresh, 3)}.")


def _companions(rows: Iterable[tuple[str, ...]]) -> dict[str, frozenset[str]]:
    """The items that share the category of each item; none for suppressed ones. Names of categories do not matter."""
    members: dict[str, list[str]] = {}
    for published, item in rows:
        members.setdefault(published, []).append(item)
    return {
        item: frozenset(items) if published else frozenset() for published, items in members.items() for item in items
    }


def refuse_repeated(out: Path | Address, digest: str, earlier: str) -> None:
    """Nothing is written over a release that is there: the same one is no error, another one is."""
    shown = one_line(str(out), 120)
    if digest == earlier:
        raise AlreadyPublishedError(f"{shown}: nothing to do, the same release is already there.")
    raise InputError(f"{shown}: exists already and differs; choose another output or add --force.")
