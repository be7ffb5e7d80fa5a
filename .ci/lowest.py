"""Print the lowest versions that ``pyproject.toml`` declares, as constraints for pip."""

import re
import tomllib
from pathlib import Path

REQUIREMENT = re.compile(r"([A-Za-z0-9_.-]+)>=([0-9.]+)")


def lowest(requirements: list[str]) -> list[str]:
    """``name==version`` for each requirement; one without a lower bound is an error."""
    found = [REQUIREMENT.fullmatch(text) for text in requirements]
    missing = [text for text, match in zip(requirements, found, strict=True) if match is None]
    if missing:
        raise SystemExit(f"pyproject.toml: {missing[0]} has no lower bound; add >=VERSION.")
    return [f"{match[1]}=={match[2]}" for match in found if match]


if __name__ == "__main__":
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    print("\n".join(lowest(project["dependencies"])))
