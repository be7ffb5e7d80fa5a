"""The data of ``setveil demo``: 5,000 invented grocery baskets and their taxonomy (made by ``generate.groceries``)."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path


def baskets_path() -> Path:
    """Long layout: ``basket,item``."""
    return Path(str(files(__name__) / "baskets.csv.gz"))


def taxonomy_path() -> Path:
    """Leaf-to-root rows: ``item,category,department``."""
    return Path(str(files(__name__) / "taxonomy.csv"))
