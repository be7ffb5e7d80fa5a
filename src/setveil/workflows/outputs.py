"""Where commands write: the folder of a release, or an address such as ``s3://bucket/out``; never over their input."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from setveil.errors import InputError, one_line
from setveil.io.releases.addresses import Address, FsspecStore, RemoteStaging, Store, as_address, downloaded, record_at
from setveil.io.releases.folders import CERTIFICATE, Staging, read_record


def staging_for(out: str | os.PathLike[str], force: bool = False, master: str | None = None) -> Staging:
    """Reserve a place for a release; ``master`` of Spark, where its file systems are to be used."""
    address = as_address(out)
    return Staging(out, force) if address is None else RemoteStaging(address, _store_at(address, master), force)


def certificate_at(out: str | os.PathLike[str], folder: Path, master: str | None) -> dict[str, Any]:
    """The certificate of the release in ``out``; empty if there is none. ``folder``: its path, if it is one."""
    address = as_address(out)
    return read_record(folder / CERTIFICATE) if address is None else record_at(address, _store_at(address, master))


@contextmanager
def local_copy(out: str | os.PathLike[str], master: str | None = None) -> Iterator[Path]:
    """The folder of a release; that of an address is downloaded for as long as the block lasts."""
    address = as_address(out)
    if address is None:
        yield Path(out)
        return
    with downloaded(address, _store_at(address, master)) as folder:
        yield folder


def refuse_overwriting_input(source: str | os.PathLike[str], output: Path) -> None:
    """Raise InputError if the output is the input file, also under another name."""
    read = Path(source)
    if read.exists() and output.exists() and output.samefile(read):
        raise InputError(
            f"{one_line(str(output), 120)}: is the input, which would be overwritten; choose another output."
        )


def _store_at(address: Address, master: str | None) -> Store:
    if master is None:
        return FsspecStore(address)
    from setveil.engines.spark.hadoop import HadoopStore
    from setveil.workflows.cluster import session_on

    return HadoopStore(session_on(master), address)
