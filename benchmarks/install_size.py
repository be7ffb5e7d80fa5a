"""What an installation weighs: every distribution that setveil needs, with the size of its files.

python -m benchmarks.install_size [EXTRA…]
"""

from __future__ import annotations

import argparse
import re
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.requirements import Requirement


def needed(extras: list[str]) -> dict[str, Distribution]:
    """Everything that is installed along with setveil and these extras."""
    found: dict[str, Distribution] = {}
    todo = [("setveil", extra) for extra in ("", *extras)]
    seen = set(todo)
    while todo:
        name, extra = todo.pop()
        try:
            found[re.sub(r"[-_.]+", "-", name).lower()] = one = distribution(name)
        except PackageNotFoundError:
            continue
        for line in one.requires or ():
            wanted = Requirement(line)
            if wanted.marker is None or wanted.marker.evaluate({"extra": extra}):
                fresh = {(wanted.name, part) for part in ("", *wanted.extras)} - seen
                seen |= fresh
                todo += sorted(fresh)
    return found


def size_mb(one: Distribution) -> float:
    """Megabytes of its files, bytecode left out."""
    paths = [one.locate_file(file) for file in one.files or () if "__pycache__" not in file.parts]
    return sum(path.stat().st_size for path in paths if path.is_file()) / 1e6  # type: ignore[attr-defined]


def main() -> None:
    """Print the table, the largest first."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("extras", metavar="EXTRA", nargs="*", help="extras of setveil, as in 'setveil[ui]'")
    extras = parser.parse_args().extras
    sizes = sorted(((size_mb(one), name) for name, one in needed(extras).items()), reverse=True)
    for size, name in sizes:
        if size >= 1:
            print(f"{size:8.1f} MB  {name}")
    print(f"{sum(size for size, _ in sizes):8.1f} MB  together, {len(sizes)} distributions")


if __name__ == "__main__":
    main()
