"""Whether a release folder holds exactly the files its certificate speaks for.

A folder may come from anyone, so nothing in it is trusted: whatever is wrong becomes one line that names the file.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any

from setveil.core.progress import Progress, no_progress
from setveil.core.regular_files import LARGEST_CERTIFICATE, open_regular
from setveil.errors import InputError, UncheckedError, one_line

CERTIFICATE = "certificate.json"
SIGNATURE = "certificate.sig"  # the one file that the certificate does not list: it signs the certificate
KNOWN = (  # besides the certificate and what is published
    "codebook.csv",
    "columns.csv",
    "counts.csv",
    "item_counts.csv",
    "lengths.csv",
    "report.html",
    "sensitive.csv",
)
PUBLISHED = re.compile(r"(published|records)\.[a-z0-9]{1,16}")  # in any format, also of another package
PARTS = "published"  # a folder of parts, where a cluster wrote the release
PART = re.compile(rf"{PARTS}/part-[0-9]{{5,9}}\.parquet")
MOST_PROBLEMS = 100
CHUNK = 2**20


def check_files(folder: str | PathLike[str], progress: Progress = no_progress) -> tuple[dict[str, Any], list[str]]:
    """The certificate and a list of problems, each one line that names the file; the folder is intact if it is empty.

    The certificate is ``{}`` if it cannot be read. Its digest and layout are recomputed, every file it lists is
    hashed, and anything in the folder that it does not list (sub-folders and hidden files too) is a problem, and so is
    any name no release has. UncheckedError if the certificate is too large to be read.
    """
    place = Path(folder)
    if not place.is_dir():
        return {}, [f"{one_line(str(folder), 120)}: not a folder."]
    certificate, problems = _read_certificate(place)
    if certificate is None:
        return {}, problems
    problems += _check_digest(certificate)
    try:
        with os.scandir(place) as entries:
            present = sorted(entry.name for entry in islice(entries, MOST_PROBLEMS + len(KNOWN) + 3))
    except OSError as error:
        return certificate, [*problems, f"{one_line(str(folder), 120)}: cannot be listed ({_cause(error)})."]
    listed, wrong = _listed_files(certificate)
    problems += wrong
    for number, (name, digest) in enumerate(listed.items()):
        progress("hashing files", number / len(listed))
        problem = _check_file(place, name, digest, progress)
        if problem:
            problems.append(f"{one_line(name, 120)}: {problem}")
    known = {*listed, CERTIFICATE, SIGNATURE}
    if any(PART.fullmatch(name) for name in listed):
        present += _inside(place / PARTS, len(listed))
        known.add(PARTS)
    problems += [
        f"{one_line(name, 120)}: an extra file; the certificate does not list it."
        for name in present
        if name not in known
    ]
    if len(problems) > MOST_PROBLEMS:
        problems[MOST_PROBLEMS:] = [f"{CERTIFICATE}: {len(problems) - MOST_PROBLEMS:,} more problems are not shown."]
    return certificate, problems


def _inside(folder: Path, n_listed: int) -> list[str]:
    """What lies in the folder of the parts; nothing if it is a link or no folder, for then its files are missing."""
    if folder.is_symlink() or not folder.is_dir():
        return [f"{PARTS}/"]
    with os.scandir(folder) as entries:
        return sorted(f"{PARTS}/{entry.name}" for entry in islice(entries, MOST_PROBLEMS + n_listed + 1))


def certificate_digest(certificate: dict[str, Any]) -> str:
    """SHA-256 over the canonical JSON of a certificate without its ``digest``."""
    rest = {key: value for key, value in certificate.items() if key != "digest"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _read_certificate(place: Path) -> tuple[dict[str, Any] | None, list[str]]:
    try:
        with open_regular(place / CERTIFICATE) as file:
            raw = file.read(LARGEST_CERTIFICATE + 1)
    except InputError as problem:
        return None, [str(problem)]
    if len(raw) > LARGEST_CERTIFICATE:
        raise UncheckedError(f"{CERTIFICATE}: is larger than {LARGEST_CERTIFICATE:,} bytes, which is the limit.")
    try:
        certificate = json.loads(raw.decode("utf-8"), object_pairs_hook=_without_repeats, parse_constant=_no_constant)
    except RecursionError:
        return None, [f"{CERTIFICATE}: not a certificate: nested too deeply."]
    except (ValueError, MemoryError) as error:
        return None, [f"{CERTIFICATE}: not valid JSON ({_cause(error)})."]
    if not isinstance(certificate, dict):
        return None, [f"{CERTIFICATE}: not a certificate: it holds no JSON object."]
    return certificate, _check_form(certificate, raw)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Two readers may take a repeated key differently, so it is an error."""
    result = dict(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        repeated = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"key {one_line(repeated)} occurs twice")
    return result


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def _check_form(certificate: dict[str, Any], raw: bytes) -> list[str]:
    """The digest does not see white space and the order of keys; the form that certificates are written in does."""
    try:
        as_written = json.dumps(certificate, sort_keys=True, indent=2, ensure_ascii=False).encode() + b"\n"
    except (ValueError, RecursionError):
        return []  # no digest can be computed either, and that is reported
    if raw == as_written:
        return []
    return [
        f"{CERTIFICATE}: changed; it is not laid out as it was written (sorted keys, two spaces, one final newline)."
    ]


def _check_digest(certificate: dict[str, Any]) -> list[str]:
    claimed = certificate.get("digest")
    if not isinstance(claimed, str):
        return [f'{CERTIFICATE}: it has no "digest".']
    try:
        actual = certificate_digest(certificate)
    except (ValueError, RecursionError):  # lone surrogates cannot be encoded
        return [f"{CERTIFICATE}: its digest cannot be computed; it holds text that is not Unicode."]
    return [] if claimed == actual else [f"{CERTIFICATE}: changed; its content does not match its digest."]


def _listed_files(certificate: dict[str, Any]) -> tuple[dict[str, str], list[str]]:
    """Plain names with a hash, and a line for each entry that is something else."""
    files = certificate.get("files")
    if not isinstance(files, dict):
        return {}, [f'{CERTIFICATE}: "files" is not an object of names and hashes.']
    listed, wrong = {}, []
    for name, digest in files.items():
        if name not in KNOWN and not PUBLISHED.fullmatch(name) and not PART.fullmatch(name):
            wrong.append(
                f'{CERTIFICATE}: "files" lists {one_line(name, 120)}, which is not the name of a file of a release.'
            )
        elif not isinstance(digest, str) or len(digest) != 64 or set(digest) - set("0123456789abcdef"):
            wrong.append(f"{one_line(name, 120)}: the certificate has no SHA-256 for it.")
            listed[name] = ""
        else:
            listed[name] = digest
    return listed, wrong


def _check_file(place: Path, name: str, digest: str, progress: Progress) -> str:
    """What is wrong with a listed file, or nothing."""
    running = hashlib.sha256()
    try:
        with open_regular(place / name) as stream:
            while chunk := stream.read(CHUNK):
                running.update(chunk)
                progress("hashing files", None)
    except InputError as problem:
        return str(problem).removeprefix(f"{name}: ")
    except OSError as error:
        return f"cannot be read ({_cause(error)})."
    if digest and running.hexdigest() != digest:
        return "changed; its SHA-256 is not the one in the certificate."
    return ""


def _cause(error: BaseException) -> str:
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return one_line(text or type(error).__name__, 120)
