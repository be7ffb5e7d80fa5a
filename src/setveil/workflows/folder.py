"""A release folder after it was published: checked again, opened, measured."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.core import Layout, Recoding, Release, Transactions
from setveil.errors import InputError, SetveilError
from setveil.io.releases.files import read_codebook, read_release, reorder_records
from setveil.io.releases.folders import internal_beside
from setveil.models import ConstraintAnonymity, PrivacyModel, make_model
from setveil.verify import check_codebook, check_files, check_original, minimal_violations
from setveil.workflows.assess import attack, measure, verify
from setveil.workflows.hierarchy import resolve_hierarchy
from setveil.workflows.reading import read

if TYPE_CHECKING:
    from setveil.risk.attack import AttackTable
    from setveil.verify import Verdict, Violation

OWNER_CHECKED_CONSTRAINTS = "the constraints were not published: that they hold was checked by the owner, not here."
OWNER_CHECKED_SUPPRESSION = "how many items were suppressed only the owner can tell (use --original): not checked here."


@dataclass(frozen=True)
class FolderVerdict:
    """What ``verify OUT`` found."""

    holds: bool
    problems: tuple[str, ...]  # files, codebook, fidelity
    verdict: Verdict | None  # of the claim; None where it could not be checked
    certificate: Mapping[str, Any]
    notes: tuple[str, ...] = ()


def verify_folder(out: str | os.PathLike[str], original: Any = None, **read_options: Any) -> FolderVerdict:
    """Re-check a release folder: files and hashes, codebook, claim; with ``original`` also its fidelity."""
    folder = Path(out)
    certificate, problems = check_files(folder)
    try:
        release = _read(folder, certificate)
        problems = problems + check_codebook(read_codebook(folder), release.published.vocabulary.labels, release.kind)
        if certificate["records"] != release.published.n_records:
            problems.append("certificate.json: tells of another number of records than are published.")
        name, options = certificate["model"]["name"], dict(certificate["model"]["options"])
        has_suppression = bool(certificate["release"].get("suppression"))
    except (KeyError, TypeError, AttributeError):
        return FolderVerdict(False, (*problems, "certificate.json: does not describe a release."), None, certificate)
    except SetveilError as problem:
        return FolderVerdict(False, (*problems, str(problem)), None, certificate)
    data = None if original is None else read(original, **read_options)
    notes: list[str] = []
    verdict, model = None, None
    is_hidden = name == ConstraintAnonymity.name and "constraints" not in options
    owners = _owners_model(folder, certificate, data) if is_hidden and data is not None else None
    if is_hidden and owners is None:
        notes.append(OWNER_CHECKED_CONSTRAINTS)
    else:
        try:
            model = owners or make_model(name, options)
            release, model = _with_known_suppression(release, model, data, notes)
            verdict = verify(release, model)
        except SetveilError as problem:
            return FolderVerdict(False, (*problems, f"certificate.json: {problem}"), None, certificate)
    if data is not None:
        ordered, is_ordered = _in_input_order(folder, release, certificate)
        problems += check_original(ordered, data, model, in_input_order=is_ordered, suppression=has_suppression)
    holds = not problems and (verdict is None or verdict.holds)
    return FolderVerdict(holds, tuple(problems), verdict, certificate, tuple(notes))


def _read(folder: Path, certificate: Mapping[str, Any]) -> Release:
    told, options = certificate["release"], certificate["model"]["options"]
    if told["published"] not in certificate["files"] or Path(told["published"]).name != told["published"]:
        raise InputError("certificate.json: the published file is not one of its files.")
    layout = Layout(**told["layout"])
    return read_release(folder, told["kind"], told["published"], layout, tuple(options.get("sensitive", ())))


def _with_known_suppression(
    release: Release, model: PrivacyModel, data: Transactions | None, notes: list[str]
) -> tuple[Release, PrivacyModel]:
    """A codebook lists absent items like suppressed ones, so the bound on suppression needs the original."""
    if not isinstance(model, ConstraintAnonymity) or not isinstance(release, Recoding):
        return release, model
    if data is None:
        notes.append(OWNER_CHECKED_SUPPRESSION)
        return release, replace(model, max_suppressed=100)
    occurs = np.zeros(len(release.domain), dtype=bool)
    places = release.domain.numbers(data.vocabulary)
    occurs[places[(places >= 0) & (data.supports > 0)]] = True
    return replace(release, suppressed=release.suppressed & occurs), model


def _owners_model(folder: Path, certificate: Mapping[str, Any], data: Transactions) -> PrivacyModel | None:
    """The model with its unpublished lists, where the owner's policy of this very release is at hand."""
    from setveil.policy.resolve import model_of
    from setveil.policy.schema import Policy

    if _owners_record(folder, certificate) is None:
        return None
    policy = Policy.from_file(internal_beside(folder) / "policy.toml")
    tree = resolve_hierarchy(policy.hierarchy.source, data, policy.hierarchy.unknown_items)
    return model_of(policy, data, tree)


def _owners_record(folder: Path, certificate: Mapping[str, Any]) -> dict[str, Any] | None:
    """``run.json`` beside the folder, if it belongs to this certificate."""
    try:
        record = json.loads((internal_beside(folder) / "run.json").read_text(encoding="utf-8"))
        return record if record["certificate_digest"] == certificate.get("digest") else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _in_input_order(folder: Path, release: Release, certificate: Mapping[str, Any]) -> tuple[Release, bool]:
    """The release with its records as the input had them, where the owner's record of this very release is at hand."""
    if certificate.get("record_order") == "input":
        return release, True
    if _owners_record(folder, certificate) is None:
        return release, False
    try:
        order = np.load(internal_beside(folder) / "order.npy")
    except (OSError, ValueError):
        return release, False
    if len(order) != release.published.n_records:
        return release, False
    return reorder_records(release, np.argsort(order)), True


def open_release(out: str | os.PathLike[str]) -> Release:
    """The release in a folder, read back for measuring and querying; the folder must be intact.

    Where ``OUT.internal`` stands beside it, records come back in input order; without it in the order of the file.
    """
    return _open(out)[0]


def _open(out: str | os.PathLike[str]) -> tuple[Release, bool]:
    folder = Path(out)
    if not folder.is_dir():
        raise InputError(f"{folder}: is not a release folder.")
    certificate, problems = check_files(folder)
    if problems:
        raise InputError(f"{folder}: is not an intact release: {problems[0]}")
    return _in_input_order(folder, _read(folder, certificate), certificate)


def measure_folder(data: Any, out: str | os.PathLike[str]) -> dict[str, Any]:
    """``measure`` for a release folder; what compares record with record needs ``OUT.internal`` beside it."""
    release, is_ordered = _open(out)
    return measure(data, release, aligned=is_ordered)


def attack_folder(data: Any, out: str | os.PathLike[str], **options: Any) -> AttackTable:
    """Attack a release folder; see ``risk.attack``. Linking needs ``OUT.internal`` beside it."""
    release, is_ordered = _open(out)
    return attack(data, release, aligned=is_ordered, **options)


def audit(
    source: Any, section: Mapping[str, Any], limit: int, read_options: Mapping[str, Any]
) -> tuple[Verdict, list[Violation]]:
    """Check any transaction file, whoever made it; ``section`` is the policy's model section."""
    from setveil.policy.resolve import model_of
    from setveil.policy.schema import Policy

    data = read(source, **read_options)
    policy = Policy.from_dict({"schema": 1, "model": dict(section)})
    model = model_of(policy, data, None)
    verdict = verify(data, model)
    return verdict, minimal_violations(data, model, limit) if limit and not verdict.holds else []
