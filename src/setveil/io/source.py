"""The bytes of an input, wherever they come from: a path, standard input, a file object; plain or gzipped.

Everything that can be wrong with bytes as such is found here: a missing file, a folder, damaged gzip data, NUL bytes,
bytes that are not UTF-8, a line without end, files of other programs. The layouts above only see whole lines of valid
text. The bytes are hashed as they pass, so a pipe has a digest like any file.
"""

from __future__ import annotations

import codecs
import hashlib
import os
import re
import sys
import zlib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import IO

import numpy as np

from setveil.core.regular_files import is_device, without_waiting
from setveil.errors import InputError
from setveil.errors import one_line as one_line

BLOCK = 1 << 23  # bytes read at a time
SAMPLE = 1 << 16  # bytes that detection looks at
GUESSED = 1 << 22  # bytes that an encoding is guessed from
MAX_LINE = 1 << 26  # a longer line is refused, so that one endless line costs neither memory nor time

GZIP = b"\x1f\x8b"
SEQUENCE = re.compile(rb"[\xc3-\xf4][\x80-\xbf]")  # a character of UTF-8 above ASCII
CONFLICT = re.compile(rb"^(?:<{7}|>{7}) ", re.MULTILINE)
PARQUET = b"PAR1"
BOM = b"\xef\xbb\xbf"
PANDAS = 'which setveil does not read; in Python: frame = pandas.{call}("{name}"); data = setveil.read(frame)'
UNPACK = "which setveil does not unpack; unpack it or use gzip"
FOREIGN = {  # what people pass by mistake: first bytes → what it is and what to do
    b"BZh": f"bzip2 data, {UNPACK}",
    b"\xfd7zXZ": f"xz data, {UNPACK}",
    b"\x28\xb5\x2f\xfd": f"Zstandard data, {UNPACK}",
    b"7z\xbc\xaf": f"a 7z archive, {UNPACK}",
    b"\xff\xfe": "UTF-16 text; add --encoding utf-16, or save it as UTF-8",
    b"\xfe\xff": "UTF-16 text; add --encoding utf-16, or save it as UTF-8",
    b"ARROW1": f"an Arrow or Feather file, {PANDAS.format(call='read_feather', name='{name}')}",
    b"FEA1": f"a Feather file, {PANDAS.format(call='read_feather', name='{name}')}",
    b"\xd0\xcf\x11\xe0": f"an old Excel workbook, {PANDAS.format(call='read_excel', name='{name}')}; or save the "
    "sheet as CSV",
    b"SQLite f": 'a SQLite database, which setveil does not read; in Python: frame = pandas.read_sql("select id, '
    'item from …", sqlite3.connect("{name}")); data = setveil.read(frame)',
    b"$FL2": f"an SPSS file, {PANDAS.format(call='read_spss', name='{name}')}",
    b"$FL3": f"an SPSS file, {PANDAS.format(call='read_spss', name='{name}')}",
    b"<stata_d": f"a Stata file, {PANDAS.format(call='read_stata', name='{name}')}",
    b"\x89HDF": f"an HDF5 file, {PANDAS.format(call='read_hdf', name='{name}')}",
    b"%PDF": "a PDF document, which setveil does not read; ask for the data as CSV",
    b"<!DOCTYP": "a web page, not data; download the file that it leads to",
    b"<!doctyp": "a web page, not data; download the file that it leads to",
    b"<html": "a web page, not data; download the file that it leads to",
    b"\x93NUMPY": 'a NumPy array; in Python: data = setveil.read(numpy.load("{name}"))',
}
EXCEL = f"an Excel workbook, {PANDAS.format(call='read_excel', name='{name}')}; or save the sheet as CSV"
ZIP = (
    "a zip archive, which setveil does not unpack; unpack it, or in Python: "
    'frame = pandas.read_csv("{name}"); data = setveil.read(frame)'
)


class EncodingError(InputError):
    """Bytes that are not UTF-8, where no other encoding was named."""


class Source:
    """An opened input. ``name`` stands in messages; ``suffix`` is the file extension without ``.gz``."""

    def __init__(
        self,
        source: str | os.PathLike[str] | IO[bytes],
        encoding: str | None = None,
        is_guessed: bool = False,
        sheet: str | None = None,
    ) -> None:
        self._is_guessed = is_guessed  # from the beginning of the file: the rest has to fit
        self.path: Path | None = None
        self.encoding = check_encoding(encoding) if encoding else "utf-8"
        self.ends_in_carriage_returns = False
        self.sheet = sheet  # of a workbook
        self.is_workbook = False  # one sheet is read as delimited text
        self._owned = False
        self._hash = hashlib.sha256()
        self._n_bytes = 0
        if isinstance(source, str | os.PathLike):
            shown = os.fsdecode(source)
            self.name = "<stdin>" if shown == "-" else one_line(shown, 120)
            self._stream = self._standard_input() if shown == "-" else self._open(Path(shown))
        else:
            shown = str(getattr(source, "name", "<stream>"))
            self.name = one_line(shown, 120)
            self._stream = source
        names = [part.lower() for part in Path(shown).suffixes]
        named_gzip = names[-1:] == [".gz"]
        self.suffix = (names[:-1] if named_gzip else names)[-1:]
        self._raw = self._read()
        self._blocks = self._raw
        self._ahead: list[bytes] = []
        self.is_gzip = False
        try:
            self._look(named_gzip)
        except InputError:
            self.close()
            raise

    def _look(self, named_gzip: bool) -> None:
        """Unpack gzip data, refuse what is no text and no Parquet, and make lines of UTF-8 of what is another text."""
        self.is_gzip = self.start().startswith(GZIP)
        if self.is_gzip:
            self._blocks = self._inflate(self._chain())
        elif named_gzip:
            raise self.error("the file is named .gz but holds no gzip data; rename it or compress it again.", None)
        start = self.start()
        if start.startswith(b"PK\x03\x04"):
            if self.suffix in ([".xlsx"], [".xlsm"]):
                from setveil.io.workbooks import sheet_as_text

                self.is_workbook, self.suffix, self.encoding = True, [".csv"], "utf-8"
                self._ahead = [sheet_as_text(self.whole(), self.sheet, self.name)]
                return
            self._refuse(EXCEL if self.suffix in ([".xlsb"], [".ods"]) else ZIP)
        if self.sheet is not None:
            raise self.error("is not an Excel workbook (.xlsx); remove --sheet.", None)
        for magic, kind in FOREIGN.items():
            if start.startswith(magic) and not (self.encoding.startswith("utf-16") and "UTF-16" in kind):
                self._refuse(kind)
        if start.startswith(PARQUET):
            return
        if self.encoding != "utf-8":
            self._blocks = self._transcode(self._chain())
        self._look_for_carriage_returns()

    def _refuse(self, kind: str) -> None:
        raise self.error(f"the file holds {kind.replace('{name}', self.name)}.", None)

    def _look_for_carriage_returns(self) -> None:
        """Lines of old spreadsheets end in carriage returns alone; such a file has no line feed at all."""
        size = sum(map(len, self._ahead))
        while size < SAMPLE and not any(b"\n" in block for block in self._ahead):
            block = next(self._blocks, None)
            if block is None:
                break
            self._ahead.append(block)
            size += len(block)
        ahead = b"".join(self._ahead)
        if b"\r" in ahead and b"\n" not in ahead:
            self.ends_in_carriage_returns = True
            self._blocks = (block.replace(b"\r", b"\n") for block in self._chain())

    def _standard_input(self) -> IO[bytes]:
        if sys.stdin is None:
            raise self.error("there is no standard input; name a file.", None)
        return sys.stdin.buffer

    def _open(self, path: Path) -> IO[bytes]:
        if re.match(r"[A-Za-z][A-Za-z0-9+.-]+:/", self.name) and not path.exists():
            raise self.error(
                "is an address, and setveil reads files; download it, or in Python: "
                f'frame = polars.read_csv("{self.name}"); data = setveil.read(frame).',
                None,
            )
        try:
            stream = open(path, "rb", opener=without_waiting)  # noqa: SIM115 (closed by close())
        except FileNotFoundError:
            raise self.error("no such file; check the path.", None) from None
        except IsADirectoryError:
            raise self.error("is a folder; name a file.", None) from None
        except PermissionError:
            raise self.error("no permission to read the file; change its mode or copy it.", None) from None
        except (OSError, ValueError) as problem:
            reason = getattr(problem, "strerror", None) or problem
            raise self.error(f"cannot be opened ({reason}); check the path.", None) from None
        if is_device(stream):
            stream.close()
            raise self.error("is a device, which may never end; name a file.", None)
        self.path, self._owned = path, True
        return stream

    def __enter__(self) -> Source:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close what was opened here; a file object that was given stays open."""
        if self._owned:
            self._stream.close()

    def error(self, message: str, line: int | None) -> InputError:
        """The error ``file:line: message``."""
        return InputError(f"{self.name}: {message}" if line is None else f"{self.name}:{line}: {message}")

    # -- bytes ----------------------------------------------------------------------------------------------------

    def _read(self) -> Iterator[bytes]:
        while True:
            try:
                block = self._stream.read(BLOCK)
            except UnicodeDecodeError:
                raise self.error("the stream is open for text; open it in binary mode.", None) from None
            except (OSError, ValueError) as problem:
                reason = getattr(problem, "strerror", None) or problem
                raise self.error(f"cannot be read ({reason}).", None) from None
            if not block:
                return
            if not isinstance(block, bytes):
                raise self.error("the stream is open for text; open it in binary mode.", None)
            self._hash.update(block)
            self._n_bytes += len(block)
            yield block

    def digest(self) -> tuple[str, int]:
        """SHA-256 and size of the input as it lies there; what nobody has asked for yet is read now."""
        for _ in self._raw:
            pass
        return self._hash.hexdigest(), self._n_bytes

    def _transcode(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        decoder = codecs.getincrementaldecoder(self.encoding)()
        line = 1
        for block in chain(blocks, (b"",)):
            if self._is_guessed and SEQUENCE.search(block):
                raise self.error(
                    f"some bytes are not UTF-8 and others are, so that {self.encoding} is not a safe guess; name the "
                    "encoding with --encoding.",
                    None,
                )
            try:
                text = decoder.decode(block, final=not block).encode()
            except UnicodeError:
                raise self.error(f"bytes that are not {self.encoding}; correct --encoding.", line) from None
            line += text.count(b"\n")
            if text:
                yield text

    def _inflate(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        """Plain bytes of gzip data, several members if need be, never more than a block at once."""
        line = 1  # of the plain text, for messages
        member = zlib.decompressobj(wbits=31)
        fresh = True  # between two members
        for block in blocks:
            while block:
                if fresh and member.eof:
                    block = block.lstrip(b"\0")  # padding
                    if not block:
                        break
                    member = zlib.decompressobj(wbits=31)
                fresh = False
                try:
                    piece = member.decompress(block, BLOCK)
                except zlib.error:
                    raise self.error("the gzip data is damaged; copy or compress the file again.", line) from None
                line += piece.count(b"\n")
                if piece:
                    yield piece
                fresh = member.eof
                block = member.unused_data if fresh else member.unconsumed_tail
        if not member.eof:
            raise self.error("the gzip data ends too early; copy or compress the file again.", line)

    def start(self) -> bytes:
        """At least eight bytes, if there are so many; they stay to be read."""
        while sum(map(len, self._ahead)) < 8:
            block = next(self._blocks, None)
            if block is None:
                break
            self._ahead.append(block)
        return b"".join(self._ahead)[:8]

    def _chain(self) -> Iterator[bytes]:
        ahead, self._ahead = self._ahead, []
        return chain(ahead, self._blocks)

    @property
    def is_plain_file(self) -> bool:
        """Whether others can read the same bytes from ``path``."""
        return self.path is not None and self.path.is_file() and not self.is_gzip

    def whole(self) -> bytes:
        """Everything at once."""
        return b"".join(self._chain())

    # -- lines ----------------------------------------------------------------------------------------------------

    def sample(self) -> bytes:
        """The first whole lines, about ``SAMPLE`` bytes, without byte order mark; they stay to be read."""
        size = sum(map(len, self._ahead))
        complete = False
        has_end = any(b"\n" in block for block in self._ahead)
        while size < SAMPLE or not has_end:
            if size > MAX_LINE and not has_end:
                raise self._too_long(1)
            block = next(self._blocks, None)
            if block is None:
                complete = True
                break
            self._ahead.append(block)
            size += len(block)
            has_end = has_end or b"\n" in block
        text = b"".join(self._ahead)
        first_end = text.find(b"\n") + 1
        if not (complete and size <= SAMPLE):
            text = text[: max(text.rfind(b"\n", 0, SAMPLE) + 1, first_end)] or text
        self.check_text(text, 1)
        return text.removeprefix(BOM)

    def lines(self, quoted: bool = False) -> Iterator[tuple[bytes, int]]:
        """``(chunk, line)``: whole lines, each ended by a line feed, and the number of the first one.

        With ``quoted`` a line feed between quotes does not end a line of the table, so no chunk ends there.
        """
        line, rest, is_first = 1, b"", True
        for block in self._chain():
            data = rest + block
            if is_first and len(data) >= len(BOM):
                data, is_first = data.removeprefix(BOM), False
            cut = last_line_end(data, quoted)
            if cut == 0 and len(data) > MAX_LINE:
                if not quoted or b'"' not in data:
                    raise self._too_long(line)
                yield data + b"\n", line  # a quote that does not end: the table's reader says where
                raise self._too_long(line)
            if cut:
                chunk, rest = data[:cut], data[cut:]
                self.check_text(chunk, line)
                yield chunk, line
                line += chunk.count(b"\n")
            else:
                rest = data
        if is_first:
            rest = rest.removeprefix(BOM)
        if rest:
            self.check_text(rest, line)
            yield rest + b"\n", line

    def check_text(self, chunk: bytes, line: int) -> None:
        """Refuse NUL bytes, marks of a merge conflict, and whatever is not UTF-8."""
        mark = CONFLICT.search(chunk) if b"<<<<<<< " in chunk or b">>>>>>> " in chunk else None
        if mark is not None:
            raise self.error(
                f'a mark of a merge conflict ("{mark[0].decode().strip()}"); keep one of both versions, without marks.',
                line + chunk.count(b"\n", 0, mark.start()),
            )
        nul = chunk.find(0)
        if nul >= 0:
            raise self.error("a NUL byte; the file is damaged or not a text file.", line + chunk.count(b"\n", 0, nul))
        if not chunk.isascii():
            try:
                chunk.decode()
            except UnicodeDecodeError as problem:
                where = line + chunk.count(b"\n", 0, problem.start)
                raise EncodingError(
                    str(
                        self.error(
                            "bytes that are not UTF-8; name the encoding, as in "
                            "--encoding latin-1, or save the file as UTF-8.",
                            where,
                        )
                    )
                ) from None

    def _too_long(self, line: int) -> InputError:
        return self.error(f"the line is longer than {MAX_LINE >> 20} MiB; write one record per line.", line)


def check_encoding(encoding: str) -> str:
    """An encoding's usual name."""
    try:
        name = codecs.lookup(encoding).name
        "a".encode(name)
    except (LookupError, UnicodeError, ValueError):
        raise InputError(
            f"--encoding {one_line(encoding)!r}: unknown; give one such as latin-1, cp1252 or utf-16."
        ) from None
    return "utf-8" if name in ("utf-8-sig", "ascii") else name


def guessed_encoding(source: object, named: str | None) -> str | None:
    """The encoding that the beginning of a file shows; None if it was named, or shows none, or there is no file."""
    is_file = isinstance(source, str | os.PathLike) and os.path.isfile(source)  # noqa: PTH113 - odd names are none
    return guess_encoding(beginning_of_text(Path(source))) if is_file and named is None else None  # type: ignore[arg-type]


def beginning_of_text(path: Path) -> bytes:
    """A bounded part of a file, gzipped or not, from the first block that is not plain ASCII on; nothing if there is
    none. However much a small file inflates to, only a block is in memory.
    """
    with open(path, "rb") as file:
        is_gzip = file.read(len(GZIP)) == GZIP
        file.seek(0)
        member = zlib.decompressobj(wbits=31)
        while block := file.read(GUESSED):
            while block:
                try:
                    piece = member.decompress(block, GUESSED) if is_gzip else block
                except zlib.error:
                    return b""
                if not piece.isascii():
                    return piece
                block = (member.unused_data or member.unconsumed_tail) if is_gzip else b""
                if member.eof:
                    member = zlib.decompressobj(wbits=31)
    return b""


def guess_encoding(content: bytes) -> str | None:
    """The encoding of text whose bytes are not UTF-8 but speak for Western European text; else None.

    Each byte above ASCII must be a letter or a usual sign there, nearly all must stand alone beside a plain letter,
    and nothing may be a character of UTF-8, which would make it a damaged file of that encoding.
    """
    if SEQUENCE.search(content) or b"\0" in content:
        return None
    n_runs, signs = 0, set[int]()
    for run in re.finditer(rb"[\x80-\xff]+", content):  # one by one: there may be millions
        if run[0] in (b"\xff\xfe", b"\xfe\xff"):  # marks of UTF-16
            return None
        n_runs += 1
        signs.update(run[0])
    alone = rb"(?<=[A-Za-z])[\x80-\xff]|(?<![A-Za-z\x80-\xff])[\x80-\xff](?=[A-Za-z])"
    n_alone = sum(1 for _ in re.finditer(alone, content))
    if not n_runs or n_alone < 0.8 * n_runs or signs & {0x81, 0x8D, 0x8F, 0x90, 0x9D}:
        return None
    return "cp1252" if any(sign < 0xA0 for sign in signs) else "iso8859-1"


def last_line_end(data: bytes, quoted: bool) -> int:
    """Where the last whole line ends; 0 if there is none."""
    if not quoted or b'"' not in data:
        return data.rfind(b"\n") + 1
    text = np.frombuffer(data, dtype=np.uint8)
    line_feeds = np.flatnonzero(text == ord("\n"))
    n_quotes_before = np.searchsorted(np.flatnonzero(text == ord('"')), line_feeds)
    outside = line_feeds[n_quotes_before % 2 == 0]
    return int(outside[-1]) + 1 if len(outside) else 0
