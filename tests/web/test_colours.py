"""The colours of page and reports, light, dark and printed: WCAG AA for text (4.5) and for what is drawn (3)."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import pytest

import setveil.report

CSS = (Path(setveil.report.__file__).parent / "templates" / "colours.css").read_text(encoding="utf-8")
TEXT = ("ink", "soft", "link", "good", "care", "bad")
DRAWN = ("soft", *(f"s{number}" for number in range(8)))
BEHIND = ("paper", "pale", "tint-good", "tint-care", "tint-bad", "guaranteed")


def palette(scheme: str) -> dict[str, str]:
    """The colours of a scheme: those of the plain rule, replaced by what its own rule says."""
    rules = re.findall(r"(?:@media ([^{]*)\{ )?:root \{([^}]*)\}", CSS)
    found: dict[str, str] = {}
    for media, declared in rules:
        if not media or scheme in media:
            found |= dict(re.findall(r"--([\w-]+): (#[0-9a-f]{3,6})\b", declared))
    return found


def luminance(colour: str) -> float:
    """Relative luminance, as WCAG 2 defines it."""
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    parts = [int(digits[place : place + 2], 16) / 255 for place in (0, 2, 4)]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark", "print"])
def test_text_and_drawings_can_be_read(scheme: str) -> None:
    colours = palette(scheme)
    assert contrast("#fff", "#000000") == pytest.approx(21)
    faint = [
        (name, behind, round(found, 2))
        for least, names in ((4.5, TEXT), (3.0, DRAWN))
        for name, behind in product(names, BEHIND)
        if (found := contrast(colours[name], colours[behind])) < least
    ]
    assert faint == []
    assert contrast(colours["on"], colours["link"]) >= 4.5  # the text of a main button


def test_a_scheme_differs_from_the_others() -> None:
    """Else the test above would read one palette three times."""
    papers = [palette(scheme)["paper"] for scheme in ("light", "dark", "print")]
    assert luminance(papers[1]) < 0.05 < luminance(papers[0])
    assert palette("print")["ink"] != palette("light")["ink"]
