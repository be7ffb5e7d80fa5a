"""Files at addresses that the file systems of Spark know: ``s3a://``, ``abfss://``, ``hdfs://``, …"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from setveil.engines.spark.session import SparkError, said_by
from setveil.errors import InputError


class HadoopStore:
    """The files below an address."""

    def __init__(self, session: SparkSession, address: str) -> None:
        context: Any = session.sparkContext
        self.path = context._jvm.org.apache.hadoop.fs.Path
        self.root = self.path(address)
        try:
            self.files = self.root.getFileSystem(context._jsc.hadoopConfiguration())
        except SparkError as problem:
            scheme = address.partition("://")[0]
            raise InputError(f"{scheme}://: Spark has no file system for it ({said_by(problem)}).") from None
        self.files.setWriteChecksum(False)  # on local disks it would leave files beside those of the release

    def sizes(self) -> dict[str, int]:
        if not self.files.exists(self.root):
            return {}
        found, listed = {}, self.files.listFiles(self.root, True)
        above = self.files.getFileStatus(self.root).getPath().toUri().getPath().rstrip("/")
        while listed.hasNext():
            file = listed.next()
            found[file.getPath().toUri().getPath()[len(above) :].lstrip("/")] = int(file.getLen())
        return found

    def put(self, path: Path, name: str) -> None:
        self.files.copyFromLocalFile(False, True, self.path(f"file://{path.resolve()}"), self._at(name))

    def get(self, name: str, path: Path) -> None:
        self.files.copyToLocalFile(False, self._at(name), self.path(f"file://{path.resolve()}"), True)

    def remove(self, name: str) -> None:
        self.files.delete(self._at(name), False)

    def _at(self, name: str) -> Any:
        return self.path(self.root, name)
