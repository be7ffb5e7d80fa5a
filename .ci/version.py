"""Check that a tag, the version of the package and the changelog agree: ``python .ci/version.py v0.1.0``."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def problems(tag: str, source: str, changelog: str) -> list[str]:
    """What does not agree with a tag."""
    found = []
    version = re.search(r'^__version__ = "([^"]+)"$', source, re.MULTILINE)
    if version is None or f"v{version[1]}" != tag:
        found.append(f"the tag is {tag}, the package has version {version[1] if version else 'none'}.")
    if re.search(rf"^## {re.escape(tag.removeprefix('v'))} - \d{{4}}-\d\d-\d\d$", changelog, re.MULTILINE) is None:
        found.append(f"CHANGELOG.md has no heading with a date for {tag}.")
    return found


if __name__ == "__main__":
    source = (ROOT / "src" / "setveil" / "__init__.py").read_text(encoding="utf-8")
    sys.exit("\n".join(problems(sys.argv[1], source, (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))) or 0)
