"""The page: every experiment with its pictures, its numbers, and what the paper says beside what was measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from experiments.catalogue import PAPERS
from experiments.experiment import Outcome, Panel, Result, Statement
from experiments.plots import alternative, axis_of, name_of, plot_names
from setveil.report.words import figure

AGREES = {True: "yes", False: "**no**", None: "–"}


def render_page(results: Sequence[Result], command: str) -> str:
    """The page as Markdown."""
    parts = list(_opening(results, command))
    for paper in PAPERS:
        of_paper = [result for result in results if result.experiment.paper == paper.number]
        if of_paper:
            parts.append(f"## {paper.number}: {paper.authors}\n\n*{_plain(paper.title)}*\n")
            for result in of_paper:
                parts += _experiment(result)
    parts += _left_out(results)
    return "\n".join(parts)


def _opening(results: Sequence[Result], command: str) -> Iterator[str]:
    yield "# The papers' experiments, run again\n"
    yield (
        "Every experiment below was run on setveil's own implementations. Each release was verified before it was measured.\n"
        "The page, its pictures and `reproduction/results.csv` were written by\n"
    )
    yield f"    {command}\n"
    yield (
        "where DIR holds the data sets. Everything but the seconds, and what is concluded from\n"
        "them, is the same in every run. Seconds are CPU seconds of one machine; they are compared with each other, not with\n"
        "those of other machines. *Agrees* is decided by the program, by the rule that\n"
        "stands beside the measured value or is the statement itself; – means that the two cannot be compared. Dashed lines are\n"
        "numbers printed in the paper. Experiments for which the paper's data is not at hand run on other data, and say so; a\n"
        "disagreement there may come from the data.\n"
    )
    rows = [
        (
            f"[{result.experiment.name}](#{result.experiment.name})",
            result.experiment.title,
            *(str(number) if result.outcome else "" for number in count(result)),
            "" if result.outcome else "not run",
        )
        for result in results
    ]
    totals = [sum(column) for column in zip(*(count(result) for result in results), strict=True)]
    rows.append(("all", "", *(str(total) for total in totals), ""))
    yield _table(("experiment", "what", "agree", "disagree", "not comparable", ""), rows)


def count(result: Result) -> tuple[int, int, int]:
    """How many statements agree, disagree, cannot be compared."""
    told = [statement.agrees for statement in result.outcome.statements] if result.outcome else []
    return told.count(True), told.count(False), told.count(None)


def _experiment(result: Result) -> Iterator[str]:
    experiment = result.experiment
    yield f'<a id="{experiment.name}"></a>\n\n### {experiment.name}: {_plain(experiment.title)}\n'
    yield f"{_plain(experiment.setting)}\n"
    if result.outcome is None:
        yield f"Not run: {_plain(result.reason)}\n"
        return
    names = plot_names(experiment.name, result.outcome)
    if names:
        yield ("\n".join(f"![{_plain(alternative(panel))}](reproduction/{name})" for panel, name in names) + "\n")
        yield _numbers(result.outcome)
    if result.outcome.statements:
        yield _statements(result.outcome.statements)


def _numbers(outcome: Outcome) -> str:
    """What the pictures show, folded away."""
    tables = [f"{_plain(panel.title)}: {_plain(panel.y_label)}\n\n{_panel_table(panel)}" for panel in outcome.panels]
    return "<details><summary>The numbers</summary>\n\n" + "\n".join(tables) + "\n</details>\n"


def _panel_table(panel: Panel) -> str:
    values = [dict(line.points) for line in panel.lines]
    rows = [(name_of(x), *(figure(of_line.get(x)) for of_line in values)) for x in axis_of(panel.lines)]
    noted = {line.note: [other.name for other in panel.lines if other.note == line.note] for line in panel.lines}
    notes = [f"- {_plain(', '.join(names))}: {_plain(note)}\n" for note, names in noted.items() if note]
    return _table((panel.x_label, *(line.name for line in panel.lines)), rows) + "\n" + "".join(notes)


def _statements(statements: Sequence[Statement]) -> str:
    rows = [(statement.paper, statement.ours, statement.agrees) for statement in statements]
    return _table(("the paper says", "we measured", "agrees"), [(a, b, AGREES[c]) for a, b, c in rows])


def _left_out(results: Sequence[Result]) -> Iterator[str]:
    wanted = {result.experiment.paper for result in results}
    rows = [
        (f"{paper.number}: {what}", why) for paper in PAPERS if paper.number in wanted for what, why in paper.left_out()
    ]
    if rows:
        yield "## Left out\n"
        yield _table(("figure or table", "why"), rows)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "".join("| " + " | ".join(_cell(str(cell)) for cell in line) + " |\n" for line in lines)


def _cell(text: str) -> str:
    return _plain(text).replace("|", "\\|").replace("\n", " ")


def _plain(text: str) -> str:
    """Text in which nothing is taken for HTML."""
    return text.replace("&", "&amp;").replace("<", "&lt;")
