"""A Chromium for the tests: one that is installed, Playwright's own, or one that is installed now.

``python -m tests.browsers`` sets one up if there is none (`make test` does it); where that is impossible it says so,
and the tests that need one are named at the end of the run.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
NONE = "no Chromium is installed and none could be set up"


def find_chromium() -> str | None:
    """The path of a browser, or None."""
    installed = next((path for path in map(shutil.which, NAMES) if path), None)
    if installed:
        return installed
    kept = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or Path.home() / ".cache" / "ms-playwright")
    found = sorted(kept.glob("chromium-*/chrome-linux*/chrome"))
    return str(found[-1]) if found else None


def set_up() -> bool:
    """Install a browser if there is none: through Playwright, else through the system's packages."""
    ways = [([sys.executable, "-m", "playwright", "install", "chromium"], 180)]  # hangs where there is no network
    if hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get"):
        ways += [(["apt-get", "update", "-q"], 120), (["apt-get", "install", "-y", "-q", "chromium"], 600)]
    for way, seconds in ways:
        if find_chromium():
            return True
        try:
            subprocess.run(way, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=seconds)
        except (OSError, subprocess.TimeoutExpired):
            continue
    return find_chromium() is not None


if __name__ == "__main__":
    if not set_up():
        print(f"!!! {NONE}; the pages are not tested in a browser.", file=sys.stderr)
