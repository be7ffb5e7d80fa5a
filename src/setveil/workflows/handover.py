"""Releases on the move: the public folder as one archive, a folder for good, and an archive that somebody sent."""

from __future__ import annotations

import json
import os
import shutil
import stat
import warnings
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from setveil.errors import InputError, SetveilWarning, one_line
from setveil.io.hierarchies.sources import is_built_hierarchy, with_file
from setveil.io.releases.folders import Staging, internal_folder_of
from setveil.policy.schema import Policy
from setveil.report.facts import Facts
from setveil.verify import check_files
from setveil.workflows.signing import SIGNATURE

EARLIEST = (1980, 1, 1, 0, 0, 0)  # no times in archives: the same release gives the same bytes
MAX_UNPACKED = 2_000_000_000  # bytes
MAX_FILES = 100
MACOS = "__MACOSX"  # the folder that the Finder puts beside what it packs
POLICY, HIERARCHY, RECORD = "policy.toml", "hierarchy.csv", "run.json"
_CHUNK = 1 << 20


def zip_public(out: str | os.PathLike[str], target: str | os.PathLike[str], name: str = "release") -> Path:
    """The public folder, and only that, as an archive of one folder called ``name``; the folder must be intact."""
    folder = Path(out)
    certificate, problems = check_files(folder)
    if problems:
        raise InputError(f"{one_line(str(folder), 80)}: is not an intact release: {problems[0]}")
    signed = [SIGNATURE] if (folder / SIGNATURE).is_file() else []
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted([*certificate["files"], "certificate.json", *signed]):
            entry = zipfile.ZipInfo(f"{name}/{file}", EARLIEST)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (stat.S_IFREG | 0o644) << 16
            with open(folder / file, "rb") as source, archive.open(entry, "w") as inside:
                shutil.copyfileobj(source, inside, _CHUNK)
    return Path(target)


def sign_off(out: str | os.PathLike[str], facts: Facts, about: Mapping[str, Any], recipient: str | None = None) -> None:
    """Put what the owner says about the decision, and the reason for a release with a red light, into the internal
    report, assessment, record and policy; nothing public changes. ``recipient``: as before unless given.
    """
    from setveil.report.assessment import write_assessment
    from setveil.report.certificate import write_json
    from setveil.report.page import write_report

    internal = internal_folder_of(Path(out))
    policy = Policy.from_file(internal / POLICY)
    policy = policy.model_copy(update={"about": type(policy.about)(**about)})
    facts = replace(facts, about=dict(about))
    if recipient is not None:
        assessed = policy.assessment.model_copy(update={"recipient": recipient or None})
        policy, facts = policy.model_copy(update={"assessment": assessed}), replace(facts, recipient=recipient)
    record = json.loads((internal / RECORD).read_text(encoding="utf-8"))
    write_report(facts, internal / "report.html")
    write_assessment(facts, record["certificate_digest"], internal / "assessment.html")
    write_json({**record, "about": dict(about)}, internal / RECORD)
    (internal / POLICY).write_text(policy.seen_from(internal).to_toml(), encoding="utf-8", newline="\n")


def keep_release(out: str | os.PathLike[str], target: str | os.PathLike[str]) -> tuple[Path, Path]:
    """Copy a release and its internal folder to their final place; both appear complete, or not at all."""
    public = Path(out)
    with Staging(target) as staging:
        for source, copy in ((public, staging.public), (internal_folder_of(public), staging.internal)):
            for file in source.iterdir():
                shutil.copyfile(file, copy / file.name)
        _take_hierarchy_along(internal_folder_of(public), staging.internal, internal_folder_of(staging.out))
        staging.commit()
    return staging.out, internal_folder_of(staging.out)


def _take_hierarchy_along(old: Path, new: Path, place: Path) -> None:
    """The policy in its new place: relative paths start there, and the hierarchy file, which may be temporary, comes
    along.
    """
    policy = Policy.from_file(old / POLICY)
    source = policy.hierarchy.source
    if source and not is_built_hierarchy(source):
        kept = place / HIERARCHY

        def copied(file: str) -> str:
            shutil.copyfile(file, new / HIERARCHY)
            return str(kept)

        moved = policy.hierarchy.model_copy(update={"source": with_file(source, copied)})
        policy = policy.model_copy(update={"hierarchy": moved})
    (new / POLICY).write_text(policy.seen_from(place).to_toml(), encoding="utf-8", newline="\n")


def unpack_release(archive: str | os.PathLike[str], folder: str | os.PathLike[str]) -> Path:
    """Unpack an archive that somebody sent into an empty folder; returns where the certificate is.

    Only plain files directly in one folder, or at the top, are taken: no paths that lead elsewhere, no links, no more
    than a release has. What macOS adds to archives is left where it is, and a warning says so. What is unpacked is
    counted while it comes, so that a small archive cannot fill the disk.
    """
    target = Path(folder)
    try:
        with zipfile.ZipFile(archive) as opened:
            given = [entry for entry in opened.infolist() if not entry.is_dir()]
            added = [entry.filename for entry in given if _is_added_by_macos(entry)]
            entries = [entry for entry in given if not _is_added_by_macos(entry)]
            _check_entries(entries, len(added))
            left = MAX_UNPACKED
            for entry in entries:
                left = _unpack(opened, entry, target / Path(entry.filename).name, left)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, zipfile.LargeZipFile):
        raise InputError(
            f"{one_line(os.fspath(archive), 120)}: is not a ZIP archive, or is damaged or locked; ask for a new copy."
        ) from None
    if added:
        warnings.warn(_words_about(added), SetveilWarning, stacklevel=2)
    return target


def _is_added_by_macos(entry: zipfile.ZipInfo) -> bool:
    """Whether it is what the Finder adds: ``.DS_Store`` and ``._NAME``, where the release is or below ``__MACOSX``."""
    parts = entry.filename.split("/")
    depth = 3 if parts[0] == MACOS else 2
    return (parts[-1] == ".DS_Store" or parts[-1].startswith("._")) and len(parts) <= depth and not _is_odd(entry)


def _words_about(added: Sequence[str]) -> str:
    first = one_line(added[0], 60)
    if len(added) == 1:
        return f'The archive contains "{first}", which macOS adds. It was ignored and does not belong to the release.'
    return (
        f'The archive contains {len(added):,} entries that macOS adds, such as "{first}". They were ignored and do not '
        "belong to the release."
    )


def _is_odd(entry: zipfile.ZipInfo) -> bool:
    """Whether its path may lead elsewhere, or it is no plain file."""
    name, kind = entry.filename, stat.S_IFMT(entry.external_attr >> 16)
    has_odd_path = any(part in ("", ".", "..") for part in name.split("/")) or any(c in name for c in "\\:\0")
    return has_odd_path or kind not in (0, stat.S_IFREG)


def _check_entries(entries: Sequence[zipfile.ZipInfo], n_added: int) -> None:
    """Refuse what is no release; macOS adds at most two entries to each file."""
    if len(entries) > MAX_FILES or n_added > 2 * MAX_FILES:
        raise InputError(f"The archive contains {len(entries) + n_added:,} files, more than a release has.")
    if sum(entry.file_size for entry in entries) > MAX_UNPACKED:
        raise InputError(f"The archive unpacks to more than {MAX_UNPACKED:,} bytes; give the folder by its path.")
    folders, names = set(), set()
    for entry in entries:
        parts = entry.filename.split("/")
        if len(parts) > 2 or _is_odd(entry):
            raise InputError(
                f'The archive contains "{one_line(entry.filename)}", which is not a file of a release folder.'
            )
        folders.add(parts[0] if len(parts) == 2 else "")
        names.add(parts[-1])
    if len(folders) > 1 or len(names) != len(entries):
        raise InputError("The archive contains more than one folder, or a file twice; pack one release.")
    if "certificate.json" not in names:
        raise InputError(
            "The archive contains no certificate.json; it is not a release of setveil. Check its data file instead, "
            "with a privacy model."
        )


def _unpack(opened: zipfile.ZipFile, entry: zipfile.ZipInfo, target: Path, left: int) -> int:
    with opened.open(entry) as source, open(target, "xb") as copy:
        while chunk := source.read(_CHUNK):
            left -= len(chunk)
            if left < 0:
                raise InputError(
                    f"The archive unpacks to more than {MAX_UNPACKED:,} bytes; give the folder by its path."
                )
            copy.write(chunk)
    return left
