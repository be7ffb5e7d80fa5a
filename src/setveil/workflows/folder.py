"""A release folder after it was published: opened, measured, attacked. ``recheck`` tells whether it holds what it
says.
"""

from __future__ import annotations

import os
import stat
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.core import Dataset, Hierarchy, Layout, Transactions
from setveil.core.regular_files import open_regular
from setveil.errors import InputError, SetveilError, UncheckedError, one_line
from setveil.io.formats.registry import certified_format
from setveil.io.releases.canonical import PARTS, layout_of, part_name, published_name
from setveil.io.releases.expansion import check_expansion
from setveil.io.releases.files import PublishedParts, read_release
from setveil.io.releases.folders import CERTIFICATE, RECORD, internal_folder_of, read_record, refuse_address
from setveil.io.releases.names import guard, unguard
from setveil.io.releases.people import SUFFIXES
from setveil.io.releases.tables import CODEBOOK, read_codebook
from setveil.models import PrivacyModel, certified_model
from setveil.releases import Release, RunRecord
from setveil.report.certificate_schema import check_schema
from setveil.report.record import certified_columns
from setveil.verify import check_files
from setveil.workflows.assess import attack, measure, public_risk, remaking
from setveil.workflows.cluster import read_parts
from setveil.workflows.inputs import as_dataset, as_transactions
from setveil.workflows.outputs import local_copy
from setveil.workflows.policies import hierarchy_of

if TYPE_CHECKING:
    from setveil.risk.attack import AttackTable
    from setveil.utility.patterns import PatternTable

POLICY = "policy.toml"
LARGEST_READING = 2**20  # bytes of a policy that is asked only how the original was read
LARGEST_POLICY = 64 * 2**20  # bytes; constraints may stand in it
LARGEST_HEADER = 4096  # bytes of an array's file besides its numbers


def open_release(
    out: str | os.PathLike[str], *, in_input_order: bool = True, original: Any = None, **read_options: Any
) -> Release:
    """The release in a folder, read back to be verified, measured, attacked, queried or applied; the folder must be
    intact.

    If the same user has an ``OUT.internal`` beside it, records are in input order, otherwise in the order of the
    file.

    Args:
        out: the folder, or an address such as ``"s3://bucket/out"``: downloaded into a temporary folder.
        in_input_order: False reads nothing outside the folder.
        original: the original data: ``measure``, ``attack`` and ``publish`` then need nothing else.
        read_options: how to read ``original``, as in ``read``.

    Returns:
        The release; it knows its model and its algorithm. Where the privacy constraints were not published, its model
        is known only if the owner's policy is beside the folder and ``original`` is given.

    Raises:
        InputError: the folder is not an intact release, or ``original`` is not what it was made from.

    Examples:
        >>> import setveil as sv
        >>> release = sv.anonymize("baskets.txt", "km", k=2, m=2, algorithm="aa", hierarchy="taxonomy.csv")
        >>> sv.open_release(release.publish("to-be-opened")).codebook().published("milk")
        'dairy'
    """
    with local_copy(out) as folder:
        release, is_ordered = _open(folder, orders=in_input_order)
        if original is None:
            return release
        if not is_ordered:
            raise InputError(
                f"{one_line(str(out), 80)}: the order of the records is not known without OUT.internal; open the "
                "release without its original."
            )
        data = as_transactions(original, **read_options)
        known = release.with_items(spoken_of(folder, release, check_files(folder)[0], data))
        return _with_record(folder, known, data)


def _with_record(folder: Path, release: Release, data: Transactions) -> Release:
    """The release with a record of its run: as the certificate and the owner's files have it."""
    from setveil.verify import check_original

    certificate, _ = check_files(folder)
    if release.model is None:
        release = replace(release, model=owners_model(folder, certificate, data))
    problems = check_original(
        release.with_unseen(compress(data.vocabulary, data.supports > 0)),
        data,
        release.model,
        in_input_order=True,
        suppression=certificate["release"]["suppression"],
    )
    if problems:
        raise InputError(f"{one_line(str(folder), 80)}: was not made from this data: {problems[0]}")
    owners = owners_record(folder, certificate) or {}
    said = owners.get("algorithm", {})
    record = RunRecord(
        data=release.published_part(data),
        model=release.model,
        algorithm=release.algorithm,
        options=dict(said.get("options", {})) if isinstance(said, dict) else {},
        hierarchy=release.hierarchy,
        hierarchy_source="",
        seed=int(owners.get("seed", 0)),
        package=certificate["algorithm"].get("package", "setveil"),
        original=data,
    )
    return replace(release, record=record)


def _open(folder: Path, original: Dataset | None = None, orders: bool = True) -> tuple[Release, bool]:
    """The release, and whether its records are in input order; parts are read where the original is."""
    refuse_address(folder)
    if not folder.is_dir():
        raise InputError(
            f"{one_line(str(folder), 120)}: is not a release folder; name the folder that `setveil anonymize -o` wrote."
        )
    certificate, problems = check_files(folder)
    problems = problems or check_schema(certificate)
    if problems:
        raise InputError(f"{one_line(str(folder), 80)}: is not an intact release: {problems[0]}")
    if original is not None and certificate["release"]["published"] == PARTS:
        parts = original.look(lambda _: None, lambda: read_parts(folder))
        if parts is not None:
            return plain(read_folder(folder, certificate, parts), certificate), False
    release = plain(read_folder(folder, certificate), certificate)
    release = replace(release, model=_public_model(certificate), algorithm=certificate["algorithm"]["name"])
    return ordered_as_input(folder, release, certificate) if orders else (release, False)


def measure_folder(data: Any, out: str | os.PathLike[str]) -> dict[str, Any]:
    """``measure`` for a release folder; what compares record with record needs ``OUT.internal`` beside it."""
    original = as_dataset(data)
    with local_copy(out) as folder:
        release, is_ordered = _open(folder, original)
        return measure(original if release.is_uniform else original.rows, release, aligned=is_ordered)


def patterns_of_folder(data: Any, out: str | os.PathLike[str], thresholds: Sequence[float]) -> PatternTable:
    """What frequent itemsets and rules are left in a release folder; see ``utility.patterns``."""
    from setveil.utility.patterns import compare_patterns

    original = as_transactions(data)
    with local_copy(out) as folder:
        release, hierarchy = _open(folder)[0].with_items(original.vocabulary), _owners_hierarchy(folder, original)
    return compare_patterns(original, release, thresholds, hierarchy=hierarchy)


def attack_folder(data: Any, out: str | os.PathLike[str], **options: Any) -> AttackTable:
    """Attack a release folder; see ``risk.attack``. Linking needs ``OUT.internal`` beside it."""
    with local_copy(out) as folder:
        (release, is_ordered), how = _open(folder), _remaking(folder)
        certificate, _ = check_files(folder)
    table = attack(data, release, aligned=is_ordered, **{**how, **options})
    model, _ = certified_model(certificate["model"]["name"], dict(certificate["model"]["options"]))
    return replace(table, published=tuple(public_risk(release, model).to_dict()["rows"]))


def _remaking(folder: Path) -> dict[str, Any]:
    """How to make the release of other data: by the owner's record where it is at hand, else with the usual options."""
    certificate, _ = check_files(folder)
    model, _ = certified_model(certificate["model"]["name"], dict(certificate["model"]["options"]))
    match owners_record(folder, certificate):
        case {"algorithm": {"name": str(name), "options": dict(options)}, "seed": int(seed)}:
            return remaking(model, name, options, seed)
    return remaking(model, certificate["algorithm"]["name"], {}, 0)


def _public_model(certificate: Mapping[str, Any]) -> PrivacyModel | None:
    """The model that a certificate names; None if it has lists that are not published, or is not installed."""
    try:
        model, is_hidden = certified_model(certificate["model"]["name"], dict(certificate["model"]["options"]))
    except UncheckedError:
        return None
    return None if is_hidden else model


# -- reading ----------------------------------------------------------------------------------------------------------


def read_folder(folder: Path, certificate: Mapping[str, Any], parts: PublishedParts | None = None) -> Release:
    """The release as its files spell it; the certificate is one that fits the schema. ``parts``: if read already."""
    certified = certificate["release"]
    layout = Layout(**certified["layout"])
    columns = certified_columns(certificate)
    if not columns:
        certified_format(layout.name)
    elif layout.name not in SUFFIXES:
        raise InputError("certificate.json: a release with columns is not written in this layout.")
    wanted = part_name(0) if certified["published"] == PARTS else published_name(layout, certified["kind"])
    if certified["published"] not in (PARTS, wanted) or wanted not in certificate["files"]:
        raise InputError("certificate.json: the published file is not one of its files.")
    sensitive = certificate["model"]["options"].get("sensitive", ())
    if not isinstance(sensitive, list | tuple) or not all(isinstance(label, str) for label in sensitive):
        raise InputError("certificate.json: model.options.sensitive is not a list of labels.")
    labels = tuple(guard(label) for label in sensitive) if certified["safe_csv"] else tuple(sensitive)
    keep_ids = certificate["record_ids"]
    if parts is None:
        check_expansion([folder / name for name in certificate["files"] if name.endswith(".parquet")])
    release = read_release(
        folder,
        certified["kind"],
        certified["published"],
        layout,
        labels,
        keep_ids=keep_ids,
        parts=parts,
        columns=columns,
    ).with_certified(certified)
    if layout_of(release, layout, in_parts=certified["published"] == PARTS) != layout:
        raise InputError("certificate.json: a grouping is not written in this layout.")
    return release


def plain(release: Release, certificate: Mapping[str, Any]) -> Release:
    """The release with the labels that were guarded against spreadsheets as they were; one that should be and is not is
    an error.
    """
    return release.relabelled(_unguarded) if certificate["release"]["safe_csv"] else release


def _unguarded(label: str) -> str:
    if guard(unguard(label)) != label:
        raise InputError("certificate.json: says that no label looks like a formula, but one does.")
    return unguard(label)


# -- what only the owner has ------------------------------------------------------------------------------------------


def _owners_hierarchy(folder: Path, data: Dataset) -> Hierarchy | None:
    """The hierarchy of the owner's policy, where the policy of this very release is at hand and can be followed."""
    from setveil.policy.schema import Policy

    certificate, _ = check_files(folder)
    if owners_record(folder, certificate) is None:
        return None
    try:
        return hierarchy_of(Policy.from_file(internal_folder_of(folder) / POLICY), data)
    except SetveilError:
        return None


def owners_model(folder: Path, certificate: Mapping[str, Any], data: Dataset) -> PrivacyModel | None:
    """The model with its unpublished lists, where the owner's policy of this very release is at hand.

    UncheckedError if that policy cannot be followed, because a file that it names is gone or has changed.
    """
    from setveil.policy.resolve import model_of
    from setveil.policy.schema import Policy

    if owners_record(folder, certificate) is None:
        return None
    path = internal_folder_of(folder) / POLICY
    try:
        with open_regular(path) as file:
            if os.fstat(file.fileno()).st_size > LARGEST_POLICY:
                raise InputError(f"more than {LARGEST_POLICY:,} bytes.")
        policy = Policy.from_file(path)
        tree = hierarchy_of(policy, data)
        return model_of(policy, data, tree)
    except SetveilError as problem:
        raise UncheckedError(f"the owner's {POLICY} cannot be used: {problem}") from None


def owners_reading(folder: Path) -> dict[str, Any]:
    """How the original of this very release was read, as far as the owner's policy is at hand; else nothing."""
    from setveil.policy.schema import Policy

    if owners_record(folder, read_record(folder / CERTIFICATE)) is None:
        return {}
    path = internal_folder_of(Path(os.path.abspath(folder))) / POLICY  # noqa: PTH100 (links stay as they are)
    try:
        with open_regular(path) as file:
            text = file.read(LARGEST_READING + 1)
        if len(text) > LARGEST_READING:
            return {}
        content = tomllib.loads(text.decode("utf-8"))
        parts: dict[str, Any] = {name: content[name] for name in ("model", "input", "columns") if name in content}
        return Policy.from_dict({"schema": 1, **parts}, path).reading()
    except (SetveilError, OSError, ValueError, RecursionError):  # the check itself says what is wrong with it
        return {}


def owners_record(folder: Path, certificate: Mapping[str, Any]) -> dict[str, Any] | None:
    """``run.json`` beside the folder, if it belongs to this certificate, and the folder it is in to this user."""
    internal = internal_folder_of(Path(os.path.abspath(folder)))  # noqa: PTH100 (links stay as they are)
    try:
        found = internal.lstat()
    except OSError:
        return None
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        return None
    record = read_record(internal / RECORD)
    return record if "digest" in certificate and record.get("certificate_digest") == certificate["digest"] else None


def spoken_of(
    folder: Path, release: Release, certificate: Mapping[str, Any], data: Dataset, internal: Path | None = None
) -> Collection[str]:
    """The items of an original that a release may speak of: all of them, or, where the owner's codebook of this very
    release is at hand, those that it names, and items that no record has.

    ``internal``: where that codebook is known to be, before both folders are in their places.
    """
    is_at_hand = internal is not None or owners_record(folder, certificate) is not None
    internal = internal or internal_folder_of(folder)
    if release.keeps_labels or not is_at_hand or not (internal / CODEBOOK).exists():
        return data.vocabulary.labels
    spell = unguard if certificate["release"]["safe_csv"] else str
    named = {spell(item) for _, item in read_codebook(internal)}
    return named.union(compress(data.vocabulary, data.supports == 0))


def ordered_as_input(
    folder: Path, release: Release, certificate: Mapping[str, Any], internal: Path | None = None
) -> tuple[Release, bool]:
    """The release with its records as the input had them, where the owner's record of this very release is at hand.

    ``internal``: where it is known to be, before both folders are in their places.
    """
    if certificate.get("record_order") == "input":
        return release, True
    if internal is None and owners_record(folder, certificate) is None:
        return release, False
    try:
        with open_regular((internal or internal_folder_of(folder)) / "order.npy") as file:
            if os.fstat(file.fileno()).st_size > 8 * release.published.n_records + LARGEST_HEADER:
                return release, False
            order = np.load(file, allow_pickle=False)
    except (InputError, OSError, ValueError, EOFError, MemoryError):
        return release, False
    n_records = release.published.n_records
    if order.shape != (n_records,) or not np.array_equal(np.sort(order), np.arange(n_records)):
        return release, False
    return release.reordered(np.argsort(order)), True
