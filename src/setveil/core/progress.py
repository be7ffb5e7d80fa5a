"""How long work tells how far it is: one signature everywhere, and one way to say nothing."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, float | None], None]  # stage, share done in 0..1 or None if unknown; may raise to stop


def no_progress(stage: str, share: float | None) -> None:
    """Nobody is watching."""
