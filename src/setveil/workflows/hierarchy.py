"""What ``--hierarchy`` takes, made into a hierarchy that fits the data."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from setveil.core import Dataset, Hierarchy
from setveil.core.progress import Progress, no_progress
from setveil.core.provenance import TableForm
from setveil.core.vocabulary import Vocabulary
from setveil.errors import InputError, SetveilError, one_line
from setveil.io.hierarchies.sources import is_of_input, parts_of_source
from setveil.io.hierarchies.systems.registry import SYSTEMS
from setveil.models import KmAnonymity, PrivacyModel
from setveil.workflows.trials import best_of, try_each

USUAL = KmAnonymity(k=5, m=2)  # what trees are tried with where no other k and m is asked for
TRIED_ON = 2_000_000  # occurrences; of more data, evenly spaced records are tried


def resolve_hierarchy(
    hierarchy: Any,
    data: Dataset,
    unknown_items: str = "error",
    model: PrivacyModel | None = None,
    progress: Progress = no_progress,
) -> Hierarchy | None:
    """A Hierarchy, a dict or a frame (``io.hierarchies.objects``), a file, ``fanout:D``, ``fanout:D:even``,
    ``levels:N``, ``prefix:1,3``, ``auto``, ``auto:METHOD``, a code system (``icd10``), ``columns:LEAF,…,TOP:FILE`` or
    ``FORMAT:FILE``; checked against the data.

    ``auto`` tries several trees and takes the one that loses least under ``model``.
    """
    if hierarchy is None:
        return None
    if isinstance(hierarchy, str | os.PathLike):
        tree = _built(os.fspath(hierarchy), data, unknown_items, model, progress)
    elif isinstance(hierarchy, Hierarchy):
        tree = hierarchy
    else:
        from setveil.io.hierarchies.objects import hierarchy_of_object

        tree = hierarchy_of_object(hierarchy, data.vocabulary)
    if unknown_items == "root":
        inner = set(tree.labels[tree.n_items :])
        unknown = [label for label in data.vocabulary if label not in tree.vocabulary and label not in inner]
        if unknown:
            tree = tree.with_items_below_root(unknown)
    _refuse_unknown(tree, data)
    return tree


def _refuse_unknown(tree: Hierarchy, data: Dataset) -> None:
    """Items that the hierarchy lacks are named: those that occur before those that only a domain has."""
    occurring = [label for label, support in zip(data.vocabulary, data.supports.tolist(), strict=True) if support]
    if len(occurring) < data.n_items:
        tree.leaf_of_items(Vocabulary(occurring))
        tree.leaf_of_items(data.vocabulary, "of the domain that nobody has")
    tree.leaf_of_items(data.vocabulary)


def _built(source: str, data: Dataset, unknown_items: str, model: PrivacyModel | None, progress: Progress) -> Hierarchy:
    kind, _, parameter = source.partition(":")
    if kind in SYSTEMS:
        from setveil.io.hierarchies.systems.trees import read_system

        return read_system(source, data.vocabulary, unknown_items)
    if kind in ("fanout", "levels"):
        from setveil.taxonomies.balanced import from_words

        return from_words(source, data.vocabulary)
    if kind == "prefix":
        from setveil.io.hierarchies.systems.detection import refuse_mixed_prefixes

        lengths = parameter.split(",")
        if not all(re.fullmatch(r"\s*[0-9]{1,9}\s*", length) for length in lengths):
            raise InputError(f'--hierarchy {one_line(source)}: write prefix lengths, as in "prefix:1,3,4".')
        refuse_mixed_prefixes(data.vocabulary, [int(length) for length in lengths])
        return Hierarchy.prefix(data, [int(length) for length in lengths])
    if kind == "auto":
        return auto_hierarchy(data, parameter, model, progress)
    format, columns, file = parts_of_source(source)
    if ":" in file and not Path(file).exists():
        raise InputError(
            f"--hierarchy {one_line(source)}: is not a file, nor one of fanout:…, levels:…, prefix:…, auto or a code "
            "system; check the spelling."
        )
    if columns is None:
        return Hierarchy.from_file(file, format=format, vocabulary=data.vocabulary)
    return _from_columns(source, columns, file, data)


def _from_columns(source: str, columns: list[str], file: str, data: Dataset) -> Hierarchy:
    """Groups from columns of a product list, or of the input itself."""
    from setveil.io.hierarchies.columns import from_leaves

    reading, item_column = data.reading, ""
    if is_of_input(source):
        file, item_column = _input_file(source, data)
    is_stripped = reading is not None and reading.form.is_stripped
    form, is_input = TableForm(is_stripped=is_stripped), bool(item_column)
    if reading is not None and reading.sha256 is not None:
        is_input = is_input or reading.sha256 == _sha256(file)
        form = reading.form if is_input else form
    if Path(file).is_file():  # a pipe can be read once only
        columns = from_leaves(file, columns, form, data.vocabulary, item_column)
    tree = Hierarchy.from_file(
        file,
        columns=columns,
        delimiter=form.delimiter,
        header=form.has_header,
        encoding=form.encoding,
        strip=form.is_stripped,
        vocabulary=data.vocabulary,
    )
    return replace(tree, derived_from_data=True) if is_input else tree  # its leaves are the items that occur


def _input_file(source: str, data: Dataset) -> tuple[str, str]:
    """``(file, column of the items)`` of data that was read from a long table in a file."""
    reading = data.reading
    form = None if reading is None else reading.interpretation
    if reading is None or form is None or form.path is None or len(form.item_positions) != 1:
        raise InputError(
            f"--hierarchy {one_line(source)} needs the file of a long table with one column of items; name a file as "
            "in columns:category:FILE."
        )
    return form.path, reading.item_column


def _sha256(path: str) -> str | None:
    """None for a pipe, which can be read only once."""
    if not Path(path).is_file():
        return None
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:  # whoever reads it will say why
        return None


def auto_hierarchy(
    data: Dataset, method: str = "", model: PrivacyModel | None = None, progress: Progress = no_progress
) -> Hierarchy:
    """A tree built from the data by one method, or by whichever loses least when AA publishes along it.

    The figures of the losers are not kept: `setveil compare` shows them. Of large data a part is tried, records evenly
    spaced in their sorted order, so that the choice does not depend on how the input is ordered.
    """
    from setveil.algorithms.base import Context
    from setveil.algorithms.km.aa import AA
    from setveil.taxonomies.auto import METHODS, auto

    if method or not data.n_items:
        return auto(data, method or "frequency")
    is_fit = model is not None and model.shapes_hierarchy and model.violated_by == "combination"
    guarantee: Any = model if is_fit else USUAL
    part = data.evenly_spaced(max(-(-data.n_occurrences // TRIED_ON), 1))

    def attempt(name: str, _: object) -> tuple[float, Hierarchy]:
        tree = auto(data, name)
        try:
            return AA().run(part, guarantee, Context(hierarchy=tree)).details["ncp"], tree
        except SetveilError:  # nothing to tell them apart by, such as fewer than k records
            return 1.0, tree

    trials = try_each(list(METHODS), attempt, lambda name: f"hierarchy auto:{name}", progress=progress)
    return best_of(trials, lambda result: result[0])[1][1]
