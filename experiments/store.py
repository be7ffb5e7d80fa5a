"""Releases kept on disk for as long as a run of the experiments takes: many figures ask for the same ones.

The name of a release is a digest of all that it follows from: the records, the model with its lists, the algorithm, its
options and the hierarchy. What was made is taken from there, with the seconds that making it took; that there is no
release is remembered, too.
"""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Mapping
from dataclasses import fields, replace
from hashlib import sha256
from pathlib import Path

from setveil.core import Hierarchy, Transactions
from setveil.errors import InfeasibleError, InputError
from setveil.models import PrivacyModel
from setveil.releases import Release

Made = tuple[Release, float]  # with the CPU seconds of making it
Refused = InfeasibleError | InputError  # why there is no release
FAST = 1  # of the levels of compression


class Store:
    """A folder of releases that were verified; several processes may use it at once."""

    def __init__(self, folder: Path) -> None:
        """The folder is there and empty when a run begins."""
        self.folder = folder
        self._digests: dict[int, tuple[Transactions, str]] = {}  # by identity, which the records kept here secure

    def name(
        self,
        data: Transactions,
        model: PrivacyModel,
        algorithm: str | None,
        hierarchy: Hierarchy | str | None,
        options: Mapping[str, object],
    ) -> str:
        """The digest of a question: what is asked of which records."""
        promise = [getattr(model, each.name) for each in fields(model)]
        tree = _hierarchy_digest(hierarchy) if isinstance(hierarchy, Hierarchy) else hierarchy
        asked = (self._data_digest(data), model.name, promise, algorithm, tree, sorted(options.items()))
        return sha256(repr(asked).encode()).hexdigest()

    def find(self, name: str) -> Made | Refused | None:
        """What is kept under a name; None if nothing is."""
        path = self.folder / name
        if not path.is_file():
            return None
        found: Made | Refused = pickle.loads(zlib.decompress(path.read_bytes()))
        return found

    def keep(self, name: str, made: Made | Refused) -> None:
        """For later; appears whole, so that another process never reads a part."""
        if isinstance(made, tuple):
            made = without_record(made[0]), made[1]
        partial = self.folder / f"{name}.{id(made)}.partial"
        partial.write_bytes(zlib.compress(pickle.dumps(made, protocol=pickle.HIGHEST_PROTOCOL), FAST))
        partial.replace(self.folder / name)

    def _data_digest(self, data: Transactions) -> str:
        if id(data) not in self._digests:
            labels = "\n".join(data.vocabulary)
            parts = (data.indptr.tobytes(), data.items.tobytes(), labels.encode())
            self._digests[id(data)] = data, sha256(b"".join(sha256(part).digest() for part in parts)).hexdigest()
        return self._digests[id(data)][1]


def _hierarchy_digest(tree: Hierarchy) -> str:
    parts = (tree.parent.tobytes(), tree.preorder.tobytes(), "\n".join(tree.labels).encode())
    return sha256(b"".join(sha256(part).digest() for part in parts)).hexdigest()


def without_record(release: Release) -> Release:
    """What is published, without the records it came from and without what was worked out about it in passing."""
    return replace(release, published=replace(release.published), record=None)
