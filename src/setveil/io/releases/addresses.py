"""Releases at addresses such as ``s3://bucket/out``: made and verified in a folder of this machine, then uploaded.

An object store cannot rename folders, so ``certificate.json`` is uploaded last and is the commit marker: a folder
without it is no release. While files are uploaded, ``.setveil-uploading`` beside them lists them; the next run to the
same address removes what an interrupted one has left. It is removed after the certificate has arrived.
``OUT.internal`` stays in the current folder.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any, Protocol

from setveil.core.regular_files import LARGEST_CERTIFICATE
from setveil.errors import InputError, SetveilError, one_line
from setveil.io.releases.folders import CERTIFICATE, RECORD, Staging, Step, check_place, read_record, refuse_taken

UPLOADING = ".setveil-uploading"
MOST_FILES = 10_000
# Drivers raise these without a number.
NUMBERS: dict[type[BaseException], int] = {FileNotFoundError: errno.ENOENT, PermissionError: errno.EACCES}
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


class Address(str):
    """``s3://bucket/out``; ``address / "report.html"`` is a file there."""

    def __truediv__(self, name: str) -> Address:
        return Address(f"{self.rstrip('/')}/{name}")

    @property
    def name(self) -> str:
        """The last part."""
        return self.rstrip("/").rpartition("/")[2]

    @property
    def shown(self) -> str:
        """For messages: in one line, without a password."""
        return one_line(re.sub(r"//[^/@]*@", "//", self), 120)


def as_address(place: Any) -> Address | None:
    """The address, if it is one: a text that begins with ``scheme://``."""
    return Address(place) if isinstance(place, str) and SCHEME.match(place) else None


class Store(Protocol):
    """The files below an address."""

    def sizes(self) -> dict[str, int]:
        """The name of every file below the address, with its bytes."""

    def put(self, path: Path, name: str) -> None:
        """Upload a file, over one that is there."""

    def get(self, name: str, path: Path) -> None:
        """Download a file."""

    def remove(self, name: str) -> None:
        """Remove a file."""


class FsspecStore:
    """Whatever fsspec has a driver for."""

    def __init__(self, address: Address) -> None:
        scheme = one_line(address.partition("://")[0], 20)
        try:
            from fsspec.core import url_to_fs
        except ImportError:
            raise InputError(
                f"{address.shown}: is an address, which needs fsspec: `pip install 'setveil[remote]'`, or publish to a "
                "folder."
            ) from None
        try:
            self.files, root = url_to_fs(str(address))
        except (ImportError, ValueError):
            raise InputError(
                f"{address.shown}: there is no driver for {scheme}://; install the one that fsspec names for it (s3fs, "
                "gcsfs, adlfs, …), or publish to a folder."
            ) from None
        self.root = root.rstrip("/")

    def sizes(self) -> dict[str, int]:
        self.files.invalidate_cache()
        found = self.files.find(self.root, detail=True)
        return {path[len(self.root) :].lstrip("/"): int(about["size"]) for path, about in found.items()}

    def put(self, path: Path, name: str) -> None:
        target = f"{self.root}/{name}"
        self.files.makedirs(target.rpartition("/")[0], exist_ok=True)
        self.files.put_file(str(path), target)

    def get(self, name: str, path: Path) -> None:
        self.files.get_file(f"{self.root}/{name}", str(path))

    def remove(self, name: str) -> None:
        self.files.rm_file(f"{self.root}/{name}")


@contextmanager
def reaching(address: Address) -> Iterator[None]:
    """What a driver raises, in one line: its messages may hold keys."""
    try:
        yield
    except (SetveilError, MemoryError):
        raise
    except Exception as problem:
        number = getattr(problem, "errno", None) or NUMBERS.get(type(problem))
        why = os.strerror(number) if isinstance(number, int) else type(problem).__name__
        raise InputError(f"{address.shown}: cannot be reached ({why}); check the address and your rights.") from None


def record_at(address: Address, store: Store, name: str = CERTIFICATE) -> dict[str, Any]:
    """A record of a release there; empty if there is none."""
    with reaching(address), TemporaryDirectory(prefix="setveil-") as folder:
        if not 0 < store.sizes().get(name, 0) <= LARGEST_CERTIFICATE:
            return {}
        store.get(name, Path(folder) / CERTIFICATE)
        return read_record(Path(folder) / CERTIFICATE)


@contextmanager
def downloaded(address: Address, store: Store) -> Iterator[Path]:
    """The files below an address in a folder of this machine, for as long as the block lasts."""
    with TemporaryDirectory(prefix="setveil-") as above:
        folder = Path(above) / "release"
        folder.mkdir()
        with reaching(address):
            sizes = store.sizes()
        sizes.pop(UPLOADING, None)  # left by a run that ended after its certificate had arrived
        if CERTIFICATE not in sizes:
            raise InputError(f"{address.shown}: there is no {CERTIFICATE}, so this is not a release.")
        free = shutil.disk_usage(above).free
        if len(sizes) > MOST_FILES or sum(sizes.values()) > free // 2:
            raise InputError(
                f"{address.shown}: {len(sizes):,} files with {sum(sizes.values()) / 1e9:,.1f} GB are more than this "
                f"machine takes ({MOST_FILES:,} files, {free / 2e9:,.1f} GB); download it where there is more room."
            )
        for name in sizes:
            parts = PurePosixPath(name).parts
            if not parts or ".." in parts or name.startswith("/") or "\0" in name:
                raise InputError(f"{address.shown}: contains {one_line(name)}, which does not belong to a release.")
            path = folder.joinpath(*parts)
            with reaching(address):
                path.parent.mkdir(parents=True, exist_ok=True)
                store.get(name, path)
        yield folder


def _texts(listed: Any) -> list[str]:
    """The names in a list or mapping of a record, which may come from anyone."""
    return [name for name in listed if isinstance(name, str)] if isinstance(listed, list | dict) else []


class RemoteStaging(Staging):
    """``Staging`` for an address: ``OUT`` is uploaded, ``OUT.internal`` is written into the current folder."""

    def __init__(self, address: Address, store: Store, force: bool = False) -> None:
        self.address, self.store = address, store
        self._is_uploaded = False
        super().__init__(Path.cwd() / (address.name or "release"), force)

    @property
    def place(self) -> Address:
        return self.address

    def check(self) -> None:
        """Refuse an address that holds something already, and a folder here whose ``OUT.internal`` this would be."""
        if os.path.lexists(self.out):
            raise InputError(
                f"{one_line(str(self.out), 120)}: exists, and the internal folder of {self.address.shown} would be "
                "next to it; run this in another folder."
            )
        if self._is_uploaded:
            return
        certificate = record_at(self.address, self.store)
        left = {} if certificate else record_at(self.address, self.store, UPLOADING)  # by an interrupted run
        with reaching(self.address):
            names = set(self.store.sizes())
        if names and not names <= {UPLOADING, *_texts(left.get("files"))}:
            strange = sorted(names - {*_texts(certificate.get("files")), CERTIFICATE, UPLOADING, "certificate.sig"})
            refuse_taken(self.address.shown, CERTIFICATE in names, strange[0] if strange else None, self.force)
        owner = read_record(self.internal_folder / RECORD).get("certificate_digest")
        if owner and owner not in (certificate.get("digest"), left.get("replaces")):
            raise InputError(
                f"{one_line(str(self.internal_folder), 120)}: belongs to another release than {self.address.shown}; "
                "move it away, or run this in another folder."
            )
        check_place(self.internal_folder, True, self.force)

    def _take_over(self) -> None:
        staged = self.public / CERTIFICATE
        digest = read_record(staged).get("digest")
        if digest and record_at(self.address, self.store).get("digest") == digest:
            staged.unlink()  # that run had published, so that its internal folder stays
        super()._take_over()

    def commit(self) -> None:
        """Upload all files, the certificate last, and see each there with its size."""
        names = {path.relative_to(self.public).as_posix() for path in self.public.rglob("*") if path.is_file()}
        try:
            with reaching(self.address):
                self._upload(names - {CERTIFICATE})
            self._is_uploaded = True
            super().commit()
        except BaseException:
            for name in (CERTIFICATE, *names, UPLOADING):
                with suppress(Exception):
                    self.store.remove(name)
            raise

    def _upload(self, names: set[str]) -> None:
        old = self.store.sizes().keys() - {UPLOADING}
        earlier = record_at(self.address, self.store) or record_at(self.address, self.store, UPLOADING)
        replaced = earlier.get("digest", earlier.get("replaces"))
        self._announce({"files": sorted({*old, *names} - {CERTIFICATE}), "replaces": replaced})
        if CERTIFICATE in old:
            self.store.remove(CERTIFICATE)
        for name in sorted(names):
            self.store.put(self.public / name, name)
        for name in old - names - {CERTIFICATE}:
            self.store.remove(name)
        sizes = self.store.sizes()
        for name in sorted(names):
            if sizes.get(name) != (self.public / name).stat().st_size:
                raise InputError(f"{self.address.shown}: {name} was not transferred completely; nothing was published.")

    def _announce(self, content: dict[str, Any]) -> None:
        announced = self.folder / "internal" / UPLOADING  # removed again before that folder is published
        announced.write_text(json.dumps(content), encoding="utf-8")
        try:
            self.store.put(announced, UPLOADING)
        finally:
            announced.unlink()

    def _publish_certificate(self) -> None:
        with reaching(self.address):
            self.store.put(self.public / CERTIFICATE, CERTIFICATE)
            self.store.remove(UPLOADING)
        (self.public / CERTIFICATE).unlink()  # says that the internal folder belongs to what is there

    def _steps(self) -> list[Step]:
        takes_away, comes = self._internal_steps()
        return [*takes_away, comes, (self._publish_certificate, lambda: None)]
