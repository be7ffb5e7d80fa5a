"""Run the notebooks from top to bottom and keep their outputs: ``python docs/notebooks/run.py``."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).parent


def executed(path: Path, folder: str | Path) -> Any:
    """A notebook as it is after a run in a folder; nothing in it tells when it ran."""
    notebook: Any = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(folder)}}).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if "outputs" in cell:  # a machine that compiles first says so on standard error
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    notebook.metadata.language_info = {"name": "python"}
    return notebook


if __name__ == "__main__":
    for file in sorted(FOLDER.glob("*.ipynb")) if len(sys.argv) == 1 else map(Path, sys.argv[1:]):
        with tempfile.TemporaryDirectory() as place:
            nbformat.write(executed(file, place), file)
