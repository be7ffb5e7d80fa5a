"""Texts that users can meet use the terms of the glossary (``setveil/words.py``)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from setveil.models import MODELS, PrivacyModel
from setveil.plugins import package_of
from setveil.report import prose
from setveil.words import TERMS, glossary_page

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src" / "setveil"

# Phrases that have a better word, and that word.
PREFERRED = {
    r"promise[sd]?": "guarantee",
    r"much remains|what remains": "residual risk",
    r"told by": "detected from",
    r"in the house": "confidential, internal use only",
    r"may stand for": "covers",
    r"left out": "suppressed",
    r"raised": "generalized",
    r"usefulness": "utility",
    r"so many of": "a number with its base",
    r"can stand for|stands? for one item": "covers",
    r"stands? twice": "occurs twice",
    r"in the open": "published, shown by records",
    r"cannot be told here|holds back": "cannot be verified, suppresses",
    r"bind by contract|bound by contract": "data use agreement",
    r"how long it may look": "search effort",
    r"hears how|hears what|goes without|nobody's business": "plain words: receives, is optional, must not become known",
    r"(?:item|row|record|label|column|field|value|group|id)\(s\)": "singular or plural, with errors.times",
    r"is no (?:part|option|known|list|number|basket|code)": "is not",
    r"held against": "compared with",
    r"comes? again": "occurs again",
    r"cannot be told": "cannot be verified, cannot be distinguished",
    r"half a surrogate": "incomplete Unicode character",
    r"breaks? its claim": "does not meet its guarantee",
}
# Words that code may use, but no text that users see.
IN_TEXTS = {
    r"beside": "next to, with",
    r"whoever": "anyone who",
    r"crowds?": "people who match",
    r"elsewhere": "the place itself",
    r"stands? (?:below|before|there|in|on|only)": "is",
}
BANNED = re.compile(rf"\b(?:{'|'.join(f'({phrase})' for phrase in PREFERRED)})(?!\w)", re.IGNORECASE)
HARD = re.compile(rf"\b(?:{'|'.join(f'({phrase})' for phrase in IN_TEXTS)})(?!\w)", re.IGNORECASE)
READ_FIRST = ("README.md", "assessment.md", "report.md", "formats.md", "ui.md", "tutorial.md", "tutorial-medical.md")
CODE = re.compile(r"```.*?```|`[^`\n]*`|<style>.*?</style>|\{[%{#].*?[%}#]\}", re.DOTALL)


def better_word(text: str, is_seen: bool = True) -> str | None:
    """What to write instead, where a text has a banned phrase; ``is_seen``: users see it."""
    for pattern, words in ((BANNED, PREFERRED), (HARD, IN_TEXTS)) if is_seen else ((BANNED, PREFERRED),):
        if found := pattern.search(text):
            place = next(number for number, group in enumerate(found.groups()) if group)
            return f'"{found[0]}": write {list(words.values())[place]}'
    return None


def texts_of_code(path: Path) -> Iterator[tuple[int, str, bool]]:
    """Strings of a module that are sentences or parts of one, and docstrings; whether users see them as messages."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value.strip():
            yield node.lineno, node.value, id(node) not in alone


def test_the_glossary_of_the_docs_is_that_of_the_code() -> None:
    written = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    assert written == glossary_page(), "run: python -m setveil.words > docs/glossary.md"


def test_the_glossary_follows_itself() -> None:
    assert [(term, better_word(meaning)) for term, meaning in TERMS.items() if better_word(meaning)] == []


@pytest.mark.parametrize("model", [model for model in MODELS.values() if package_of(model) == "setveil"])
def test_reports_take_their_terms_from_the_glossary(model: type[PrivacyModel]) -> None:
    own = {term: meaning for term, meaning in model.glossary.items() if TERMS.get(term) != meaning}
    assert own == {}, "add them to words.TERMS, and take them from there with words.terms"
    listed = {*prose.EVERYWHERE, *(term for terms in prose.BY_KIND.values() for term in terms)}
    assert listed - TERMS.keys() == set()


@pytest.mark.parametrize("room", sorted(path.name for path in SOURCES.iterdir() if path.suffix in ("", ".py")))
def test_texts_of_code_use_the_terms(room: str) -> None:
    place = SOURCES / room
    modules = [place] if place.suffix else sorted(place.rglob("*.py"))
    found = [
        f"{module.relative_to(ROOT)}:{line}: {better}"
        for module in modules
        for line, text, is_seen in texts_of_code(module)
        if (better := better_word(text, is_seen))
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "path",
    [
        *sorted(path for path in SOURCES.rglob("*.j2")),
        *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
        *sorted((ROOT / "docs").rglob("*.md")),
    ],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_pages_use_the_terms(path: Path) -> None:
    text = CODE.sub(lambda code: "\n" * code[0].count("\n"), path.read_text(encoding="utf-8"))
    found = [
        f"{path.relative_to(ROOT)}:{number}: {better}"
        for number, line in enumerate(text.splitlines(), start=1)
        if (better := better_word(line, path.suffix == ".j2" or path.name in READ_FIRST))
    ]
    assert not found, "\n".join(found)
