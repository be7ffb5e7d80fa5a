"""The README's picture: the top of the demo's internal report.

    python -m benchmarks.report_picture [--full FOLDER]

writes docs/pictures/report.png, and report.json beside it: the sentences that the picture shows, and its SHA-256. A
test compares both with the program. ``--full`` also keeps the report and the assessment as pictures, narrow and wide,
light and dark, to be looked at. Needs Chromium (`python -m tests.browsers` sets one up).
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from setveil.workflows import deciding, pipeline
from setveil.workflows.publish import Outcome

PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "report.png"
SIZE = {"width": 1100, "height": 760}


def make_demo(folder: Path) -> Outcome:
    """The release that the demo publishes."""
    decision = deciding.decide_demo()
    return pipeline.run(decision.chosen.policy, decision.source, folder / "out")


def shown(outcome: Outcome) -> list[str]:
    """What the picture says."""
    return [outcome.headline, *(f"{light.question}: {light.answer}. {light.sentence}" for light in outcome.lights)]


def main() -> None:
    """Make the demo's release, take the picture, keep what it says."""
    from playwright.sync_api import sync_playwright

    from tests.browsers import find_chromium

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", type=Path)
    full = parser.parse_args().full
    with TemporaryDirectory() as folder, sync_playwright() as play:
        outcome = make_demo(Path(folder))
        browser = play.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE)  # type: ignore[arg-type]
        page.goto((outcome.internal / "report.html").as_uri())
        page.screenshot(path=PICTURE)
        told = {"sha256": hashlib.sha256(PICTURE.read_bytes()).hexdigest(), "shows": shown(outcome)}
        PICTURE.with_suffix(".json").write_text(json.dumps(told, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        if full is not None:
            _keep_all(browser, outcome, full)
        browser.close()


def _keep_all(browser: Any, outcome: Outcome, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("report", "assessment"):
        for width in (390, 1280):
            for scheme in ("light", "dark"):
                page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
                page.goto((outcome.internal / f"{name}.html").as_uri())
                page.screenshot(path=folder / f"{name}-{width}-{scheme}.png", full_page=True)
                page.close()


if __name__ == "__main__":
    main()
