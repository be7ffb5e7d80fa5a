"""One run of one policy on one data set: its process, its progress, its files and its lights."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from setveil.web.children import Child

BAD = "bad"  # the colour of a red light


@dataclass
class Run:
    """One run of one policy on one data set."""

    number: int
    policy: dict[str, Any]
    guarantee: str
    folder: Path
    child: Child
    address: str  # of its files, below the page
    state: str = "running"  # then done, failed or cancelled
    stage: str = ""
    share: float | None = None
    started: float = field(default_factory=time.monotonic)
    stage_started: float = field(default_factory=time.monotonic)
    seconds: float = 0.0
    result: dict[str, Any] = field(default_factory=dict)
    problem: str = ""
    is_infeasible: bool = False
    is_handed_over: bool = False  # its archive was made, or it was copied to its place
    signing: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def out(self) -> Path:
        """The public folder."""
        return self.folder / "release"

    @property
    def pages(self) -> dict[str, Path]:
        """Its pages, by the last part of their address; a page may be missing."""
        internal = self.out.with_name(f"{self.out.name}.internal")
        return {
            "public": self.out / "report.html",
            "internal": internal / "report.html",
            "assessment": internal / "assessment.html",
        }

    @property
    def lights(self) -> list[dict[str, str]]:
        """The lights of its release, none where there is no release."""
        return list(self.result.get("lights", ()))

    @property
    def is_red(self) -> bool:
        """Whether one of its lights is red."""
        return any(light["colour"] == BAD for light in self.lights)

    @property
    def needs_reason(self) -> bool:
        """Whether somebody must give a reason before the release is handed over."""
        return self.is_red and not self.policy["about"].get("reason")

    def progress(self, stage: str, share: float | None) -> None:
        """Take a report of its process."""
        if stage != self.stage:
            self.stage, self.stage_started = stage, time.monotonic()
        self.share = share

    def remaining(self) -> float | None:
        """Estimated seconds left in this stage, None at its beginning."""
        spent = time.monotonic() - self.stage_started
        if self.share is None or self.share < 0.05 or spent < 1:
            return None
        return spent * (1 - self.share) / self.share
