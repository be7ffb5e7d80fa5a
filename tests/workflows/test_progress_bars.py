"""A bar where a person watches: in a notebook it is one small picture that is drawn again and goes away."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

import setveil as sv


class Notebook:
    """As much of IPython as a bar needs."""

    def __init__(self) -> None:
        self.pictures: list[str] = []
        self.display = SimpleNamespace(display=self.show)

    def get_ipython(self) -> Any:
        return SimpleNamespace(kernel=object())

    def show(self, content: dict[str, str], *, raw: bool, display_id: bool = True) -> Any:
        assert raw
        self.pictures.append(content["text/html"])
        return SimpleNamespace(update=self.show)


def test_a_notebook_shows_one_bar_that_goes_away(monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = Notebook()
    monkeypatch.setitem(sys.modules, "IPython", notebook)  # type: ignore[arg-type]
    with sv.progress_bar() as progress:
        progress("trying <b>", 0.25)
        for _ in range(100):
            progress("trying <b>", 0.26)  # too soon for another picture
        progress("writing", None)
    first, second, third, *rest, last = notebook.pictures
    assert "starting" in first and 'value="0.250"' in second and "trying &lt;b&gt;" in second
    assert third == "<progress></progress> writing" and last == ""
    assert len(rest) < 10


def test_the_bar_goes_away_when_the_work_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = Notebook()
    monkeypatch.setitem(sys.modules, "IPython", notebook)  # type: ignore[arg-type]
    with pytest.raises(KeyboardInterrupt), sv.progress_bar():
        raise KeyboardInterrupt
    assert notebook.pictures[-1] == ""


def test_nothing_is_shown_where_nobody_watches(capsys: pytest.CaptureFixture[str]) -> None:
    with sv.progress_bar() as progress:
        progress("working", 0.5)
    shown = capsys.readouterr()
    assert shown.out == shown.err == ""
