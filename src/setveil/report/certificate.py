"""``certificate.json``: what a recipient needs to check the release again. Documented in ``docs/certificate.md``."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setveil.errors import SetveilError
from setveil.report.certificate_schema import SCHEMA, check_schema
from setveil.report.profiles import DEFAULT

if TYPE_CHECKING:
    from setveil.core import Layout
    from setveil.report.facts import Facts


def canonical_json(content: Any) -> bytes:
    """The one byte form of a JSON value that digests are taken of."""
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def certificate_of(
    facts: Facts,
    published: str,
    layout: Layout,
    keep_order: bool = False,
    keep_ids: bool = False,
    safe_csv: bool = False,
) -> dict[str, Any]:
    """The certificate of public facts."""
    content = {
        "setveil": facts.version,
        "schema": SCHEMA,
        "model": {"name": facts.model, "options": dict(facts.model_options)},
        "guarantee": facts.guarantee,
        "algorithm": {
            "name": facts.algorithm,
            **({} if facts.package == "setveil" else {"package": facts.package}),
        },
        "release": {
            "kind": facts.kind,
            "published": published,
            "layout": vars(layout),
            "suppression": facts.has_suppression,
            "safe_csv": safe_csv,
            **facts.certified,
            **({"columns": [{"name": name, "role": role} for name, role in facts.columns]} if facts.columns else {}),
        },
        "records": facts.records,
        "record_order": "input" if keep_order else "canonical",
        "record_ids": keep_ids,
        "files": dict(facts.files),
        "verified": facts.holds,
        "achieved": dict(facts.achieved),
        "metrics": dict(facts.metrics),
        "risk": {"after": list(facts.risk_after)},
        "not_protected": list(facts.not_protected),
    }
    if facts.profile != DEFAULT:
        content["assessment"] = facts.profile.to_dict()
    certificate = seal(json.loads(json.dumps(content, sort_keys=True)))  # as whoever reads it gets it
    problems = check_schema(certificate)
    if problems:  # a field was added here and not in the schema
        raise SetveilError(f"not published: {problems[0]}")
    return certificate


def seal(certificate: Mapping[str, Any]) -> dict[str, Any]:
    """The certificate with its ``digest``."""
    content = {key: value for key, value in certificate.items() if key != "digest"}
    return {**content, "digest": hashlib.sha256(canonical_json(content)).hexdigest()}


def hash_file(path: Path) -> str:
    """SHA-256 of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_json(content: Any, path: Path) -> None:
    """Readable JSON with sorted keys, the same bytes for the same content."""
    text = json.dumps(content, sort_keys=True, indent=2, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8", newline="\n")
