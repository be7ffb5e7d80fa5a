"""The map in docs/architecture.md is the tree."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from setveil.algorithms import ENTRIES
from setveil.io.formats.registry import FORMATS
from setveil.models import MODELS

ROOT = Path(__file__).parents[1]
HOUSE = ROOT / "src" / "setveil"


def test_every_room_is_on_the_map() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    on_the_map = re.findall(r"^\| `([a-z_.]+)/?` \|", text, re.MULTILINE)
    rooms = [path.name for path in HOUSE.iterdir() if (path / "__init__.py").exists() or path.suffix == ".py"]
    assert sorted(on_the_map) == sorted(set(rooms) - {"__init__.py"})


def test_files_named_on_the_map_exist() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    for name in re.findall(r"`([a-z_]+/[a-z_/]+\.py)`", text):
        assert (HOUSE / name).is_file(), name
    for name in ("inputs.py", "hierarchy.py", "anonymize.py", "publish.py", "assess.py"):
        assert f"`{name}`" in text
        assert (HOUSE / "workflows" / name).is_file()


def test_a_model_is_called_the_same_in_every_room() -> None:
    for name in MODELS:
        folder = name.replace("-", "_")
        assert (HOUSE / "algorithms" / folder).is_dir()
        assert (HOUSE / "verify" / f"{folder}.py").is_file()
        assert (ROOT / "tests" / "algorithms" / folder).is_dir()


# Where a model, an algorithm or a format may be named outside its own room, and why. Add none: declare what the name
# stands for on the model (``models/base.py``), the entry (``algorithms/registry.py``) or the format (``io/formats``).
NAMED = {
    ("workflows/portfolio.py", "trim"),  # the portfolio is made of these
    ("workflows/portfolio.py", "weave"),
    ("workflows/portfolio.py", "pcta+"),
    ("workflows/portfolio.py", "aa+refine"),
    ("workflows/deciding.py", "km"),  # the settings that the demonstration compares
    ("workflows/deciding.py", "trim"),
    ("workflows/deciding.py", "lra"),
    ("workflows/deciding.py", "tally"),
    ("sklearn.py", "km"),  # defaults in a signature
    ("sklearn.py", "aa"),
    ("words.py", "k-anonymity"),  # a term of the glossary
    ("core/transactions.py", "jsonl"),  # what records are written as if nobody says it
    ("cli/generate.py", "fimi"),
    ("workflows/compare.py", "jsonl"),
    ("workflows/publish.py", "parquet"),  # what Spark writes
    ("workflows/pipeline.py", "parquet"),
    ("engines/spark/frames.py", "parquet"),
    ("generate/quest.py", "fimi"),
    ("workflows/samples.py", "long"),  # the only format in which generated columns are written
    ("workflows/cluster.py", "parquet"),  # Spark's name
    ("workflows/portfolio.py", "counts"),  # a yardstick, not a model
    ("risk/knowledge.py", "random"),  # known items, not an algorithm
}
PLAIN_WORDS = {  # names that mean other things, too: only a comparison with them counts
    "counts", "rules", "constraints", "coherence", "degree", "uncertainty", "random", "classes", "blocks", "optimal",
    "long", "wide", "table", "basket", "json",
}  # fmt: skip


def test_models_algorithms_and_formats_are_named_in_their_rooms_only() -> None:
    formats = set(FORMATS)
    names = {*MODELS, *(entry.name for entry in ENTRIES), *formats}
    found = set()
    for path in sorted(HOUSE.rglob("*.py")):
        file = path.relative_to(HOUSE).as_posix()
        if file.startswith(("algorithms/", "models/")):
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        compared = {id(one) for node in ast.walk(tree) if isinstance(node, ast.Compare) for one in ast.walk(node)}
        texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and node.value in names]
        for text in texts:
            is_reader = file.startswith(("io/", "verify/originals/", "verify/published.py"))
            if (text.value in PLAIN_WORDS and id(text) not in compared) or (text.value in formats and is_reader):
                continue
            found.add((file, text.value))
    assert found <= NAMED, f"declare it instead of naming it: {sorted(found - NAMED)}"
    assert found >= {one for one in NAMED if one[0] != "workflows/roles.py"}, f"gone: {sorted(NAMED - found)}"


def test_every_algorithm_has_its_file_of_tests() -> None:
    for entry in ENTRIES:
        if entry.package == "setveil":
            _, _, model, module = entry.where.partition(":")[0].split(".")
            assert (ROOT / "tests" / "algorithms" / model / f"test_{module}.py").is_file(), entry.name
