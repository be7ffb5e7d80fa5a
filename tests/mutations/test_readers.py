"""Files with some bytes changed: every reader gives records or one line that says what is wrong, nothing else."""

from __future__ import annotations

import io
import json
import warnings
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setveil.errors import SetveilError
from setveil.io.transactions.reading import read_transactions

CORPUS = Path(__file__).parents[1] / "corpus"
LAYOUTS = ("fimi", "spmf", "long", "basket", "jsonl")
SEEDS = {
    "fimi": b"1 2 3\n4 5\n\n6\n",
    "spmf": b"@CONVERTED_FROM_TEXT\n@ITEM=1=milk\n@ITEM=2=beer\n1 2\n1\n",
    "long": b'id,item\n1,milk\n1,"a,""b"\n2,beer\n',
    "basket": b'milk,beer\ntea,"x, y"\nbeer\n',
    "jsonl": b'{"items": ["a", "b"]}\n{"items": []}\n["b"]\n',
}
PIECES = [
    b"",
    b"\0",
    b"\r",
    b"\n",
    b'"',
    b",",
    b"\xff",
    b"\xe2\x80\xae",
    b"-1",
    b"9" * 30,
    b"{",
    b"[" * 50,
    b"\\u",
    b"@ITEM=",
    b" ",
]


@st.composite
def mutated(draw: st.DrawFn) -> tuple[str, bytes]:
    """A layout, and its seed with pieces put in, taken out and doubled."""
    layout = draw(st.sampled_from(LAYOUTS))
    content = SEEDS[layout]
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(content)))
        end = min(start + draw(st.integers(0, 6)), len(content))
        piece = draw(st.sampled_from(PIECES) | st.binary(max_size=4) | st.just(content[start:end] * 2))
        content = content[:start] + piece + content[end:]
    return layout, content


def read(content: bytes, layout: str | None) -> list[list[str]] | None:
    """The records, None if they were refused in one line."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return read_transactions(io.BytesIO(content), format=layout, labels_as_they_are=True).to_lists()
        except SetveilError as problem:
            assert "\n" not in str(problem)
            assert problem.exit_code == 2
            return None


def expected(content: bytes) -> list[set[str]] | None:
    """JSON lines of lists of texts, read one by one with the standard library; None where the layout allows more than
    that.
    """
    records = []
    for line in content.decode().split("\n"):
        if line.strip():
            value = json.loads(line)
            items = value["items"] if isinstance(value, dict) and set(value) == {"items"} else value
            if not isinstance(items, list) or not all(isinstance(item, str) and item for item in items):
                return None
            records.append(set(items))
    return records


@given(mutated())
@settings(max_examples=150)
def test_mutated_files_are_read_or_refused(case: tuple[str, bytes]) -> None:
    layout, content = case
    found = read(content, layout)
    if layout == "jsonl" and found is not None:
        try:
            wanted = expected(content)
        except (ValueError, KeyError, TypeError):
            return  # whatever else the reader takes is not for this oracle
        if wanted is not None:
            assert [set(row) for row in found] == wanted


@pytest.mark.parametrize(
    "path", sorted(path for path in CORPUS.iterdir() if path.suffix != ".md"), ids=lambda path: path.name
)
def test_the_corpus_breaks_nothing(path: Path) -> None:
    for layout in (None, *LAYOUTS):
        read(path.read_bytes(), layout)
