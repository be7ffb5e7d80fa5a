"""The pages: one about all papers, one per paper. Everything on them comes from the table of results and the lists of
claims.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from experiments.claims import Cause, Claim, Kind, Reading, Verdict, told, verdict
from experiments.experiment import OURS, Experiment, Outcome, Panel, Paper
from experiments.findings import findings
from experiments.plots import axis_of, name_of
from experiments.results import Results
from setveil.report.words import figure

COMMAND = "make reproduce DATA=…"
SHOWN = 4  # more readings than that are folded
SYMBOLS = {Verdict.HOLDS: "✓", Verdict.PARTLY: "~", Verdict.FAILS: "✗", Verdict.UNTESTED: "–"}
_NUMBERS = ("no", "one", "two", "three", "four", "five")
MARKS = {True: "yes", False: "**no**", None: "–"}


# -- the page about all papers ----------------------------------------------------------------------------------------


def render_index(papers: Sequence[Paper], results: Results) -> str:
    """``reproduction.md``."""
    parts = ["# The papers' experiments, run again\n", *_opening(papers, results)]
    found = findings(results)
    if found:
        parts.append("## What was found\n")
        parts.append("".join(f"{number}. {text}\n" for number, text in enumerate(found, start=1)))
    parts.append("## Claims, tallied by kind\n")
    parts.append(_tally_of_papers(papers, results))
    parts.append(_how(results))
    return "\n".join(parts)


def _opening(papers: Sequence[Paper], results: Results) -> Iterator[str]:
    yield (
        f"We ran the experiments of {_NUMBERS[len(papers)]} papers again, with our own implementations. Every release "
        "was verified before it was measured.\nA claim holds (✓), holds under some readings (~), or fails (✗). Each "
        "failure has a cause, such as other data or a protocol that the\npaper does not state. What holds for a "
        "measure of a paper need not hold for counts, which most recipients want.\n"
    )
    yield _table(
        ("paper", "what it is cited for", ""),
        [
            (f"[{paper.authors}](reproduction/{paper.number}.md)", claim.words, _symbol(readings))
            for paper in papers
            for claim in [_claim(paper, paper.headline.claim)]
            for readings in [readings_of(paper, results).get(claim.id)]
        ],
    )
    yield "## The same with numbers\n"
    rows = [
        (
            f"[{paper.number}](reproduction/{paper.number}.md)",
            f"{paper.authors}: {(claim := _claim(paper, paper.headline.claim)).words} (“{claim.quote}”)",
            _headline_verdict(claim, readings_of(paper, results).get(claim.id)),
            *_key_numbers(paper, results),
        )
        for paper in papers
    ]
    yield _table(
        (
            "paper",
            "headline claim",
            "verdict",
            "key numbers",
            "setveil's default",
            "counts of pairs off by, on average",
        ),
        rows,
    )
    waiting = [each.name for paper in papers for each in paper.experiments if each.name not in results]
    if waiting:
        yield f"Not run yet, so that verdicts rest on fewer readings: {', '.join(waiting)}.\n"
    remarks = {outcome.remark: "" for outcome in results.values() if outcome.remark}
    for remark in remarks:
        names = [name for name, outcome in results.items() if outcome.remark == remark]
        yield f"Out of date: {remark} ({', '.join(names)}).\n"


def _symbol(readings: Sequence[Reading] | None) -> str:
    return "–" if not readings else SYMBOLS[verdict(readings)]


def _claim(paper: Paper, name: str) -> Claim:
    return next(claim for claim in paper.claims if claim.id == name)


def _headline_verdict(claim: Claim, readings: Sequence[Reading] | None) -> str:
    if not readings:
        return "**not run yet**"
    cause = f" ({claim.cause})" if claim.cause and verdict(readings) in (Verdict.FAILS, Verdict.PARTLY) else ""
    return f"**{told(readings)}**{cause}"


def _key_numbers(paper: Paper, results: Results) -> tuple[str, str, str]:
    headline = paper.headline
    outcome = results.get(headline.experiment)
    if outcome is None or not outcome.panels:
        return "", "", ""
    panel = outcome.panel(headline.panel)
    shown = ", ".join(f"{name} {figure(panel.line(name).at(headline.x))}" for name in headline.lines)
    ours = next((line for line in panel.lines if line.name.startswith(OURS)), None)
    default = "" if ours is None else f"{figure(ours.at(headline.x))} ({ours.name.removeprefix(OURS).strip(' ()')})"
    at = f"{panel.x_label} {name_of(headline.x)}" if panel.x_label else name_of(headline.x)
    off = ""
    if headline.counts:
        counts = outcome.panel(headline.counts)
        off = ", ".join(
            f"{line.name} {100 * value:,.0f} %"
            for line in counts.lines
            if (line.name in headline.lines or line.name.startswith(OURS))
            and (value := line.at(headline.x)) is not None
        )
    return f"{panel.y_label}, {panel.title}, {at}: {shown}", default, off


def _tally_of_papers(papers: Sequence[Paper], results: Results) -> str:
    rows = []
    for kind in Kind:
        for paper in papers:
            counts = _counts(paper, results, kind)
            if any(counts):
                rows.append((str(kind), f"[{paper.number}](reproduction/{paper.number}.md)", *map(str, counts)))
    return _table(("kind", "paper", *map(str, Verdict)), rows)


def _counts(paper: Paper, results: Results, kind: Kind) -> list[int]:
    found = readings_of(paper, results)
    verdicts = [verdict(found[claim.id]) for claim in paper.claims if claim.kind is kind and claim.id in found]
    return [verdicts.count(each) for each in Verdict]


def _how(results: Results) -> str:
    costs = [outcome.cpu_seconds for outcome in results.values() if outcome.cpu_seconds is not None]
    losses = [panel for outcome in results.values() for panel in outcome.panels if panel.is_loss]
    n_beside = sum(panel.has_default for panel in losses)
    beside = "all" if n_beside == len(losses) else f"{n_beside} of the"
    those = "The experiments" if len(costs) == len(results) else f"{len(costs)} of the {len(results)} experiments"
    return f"""## How to read this, and how to make it again

A *claim* is one statement of a paper, however many figures repeat it; a *reading* is one way of taking it (a data
set, a workload, an order of the items) where the paper leaves that open. The program decides each reading by the
rule that stands next to the measured value; a tie between methods that cannot differ counts as agreement. A claim
*holds* if all its readings do. What fails has a cause, grouped on each paper's page: the paper contradicts itself,
its data is not at hand, its protocol is undefined, our comparator is a reconstruction, or the claim is genuinely
not what we find. Seconds depend on machines and programs: they are shown, and compared only where both sides are
programs of ours that do the paper's steps. *Our default* is what setveil does when no algorithm is named; for
k^m-anonymity, with the least effort (`effort=fast`) and without a hierarchy, which it does not need: it leaves out
single entries so that counts of items and pairs stay right. NCP counts each of them as 1 and UL as nothing; queries
for five items often find nothing left, and to answer 0 to all is an error of 1 (AvgRE) or 100 %, which is what
figures near that mean. It stands next to the papers' algorithms in {beside} {len(losses)} panels that show a loss.

    python -m experiments data --data DIR
    {COMMAND}

The first command names every data set, where it comes from, how it was prepared and its SHA-256, and checks the
files in DIR. The second runs everything (a run that was stopped goes on with
`python -m experiments all --missing --data DIR -o docs`) and writes this page, one page and one picture per paper, and
[one table](reproduction/results.csv) with every point of every figure and every reading.
`python -m experiments 003-fig12 --data DIR -o docs` runs one experiment again,
`python -m experiments all --draw DIR -o docs` draws all pictures from the table. Everything but the seconds is the
same in every run. {those} above took {sum(costs):,} CPU seconds in all; a release that several figures ask for is made
once.
"""


# -- the page of a paper ----------------------------------------------------------------------------------------------


def readings_of(paper: Paper, results: Results) -> dict[str, list[Reading]]:
    """What was measured for each claim, experiment by experiment."""
    found: dict[str, list[Reading]] = {}
    for experiment in paper.experiments:
        for reading in results.get(experiment.name, Outcome()).readings:
            found.setdefault(reading.claim, []).append(reading)
    return found


def pictured(paper: Paper, results: Results) -> list[Panel]:
    """The panels of the paper's picture, as far as they were run; their titles say where they are from."""
    found = [
        [_with_origin(name, panel) for panel in results[name].panels if panel.title.startswith(title)]
        for name, title in paper.picture
        if name in results
    ]
    return [panels[0] for panels in found if panels]  # an earlier version may have drawn others


def _with_origin(experiment: str, panel: Panel) -> Panel:
    if panel.title.startswith(("Figure", "Table")):
        return panel
    return replace(panel, title=f"{experiment}: {panel.title}")


def render_paper(paper: Paper, results: Results) -> str:
    """The page of one paper."""
    found = readings_of(paper, results)
    parts = [
        f"# {paper.number}: {_plain(paper.title)}\n",
        f"{_plain(paper.authors)}. [All papers](../reproduction.md).\n",
        *_summary(paper, results, found),
        *_disagreements(paper, found),
    ]
    panels = pictured(paper, results)
    if panels:
        alternative = "; ".join(f"{panel.title}, {panel.y_label} over {panel.x_label}" for panel in panels)
        parts.append(f"![{_plain(alternative)}]({paper.number}.svg)\n")
    for kind in Kind:
        claims = [claim for claim in paper.claims if claim.kind is kind and claim.id in found]
        if claims:
            parts.append(f"## {str(kind).capitalize()}\n")
            parts.append(
                _table(
                    ("the paper says", "readings tried", "verdict"), [_row(claim, found[claim.id]) for claim in claims]
                )
            )
    if paper.rebuilt:
        parts.append("## What is a reconstruction\n")
        parts.append("".join(f"- {_plain(which)}: {_plain(how)}\n" for which, how in paper.rebuilt))
    if paper.errata:
        parts.append("## Errata\n")
        parts.append("".join(f"- {where}: {_plain(what)}\n" for where, what in paper.errata))
    parts.append("## Panels\n")
    for experiment in paper.experiments:
        if experiment.name in results:
            parts += _panels(experiment, results[experiment.name])
    if paper.left_out:
        parts.append("## Not run\n")
        parts.append(_table(("figure or table", "why"), paper.left_out))
    return "\n".join(parts)


def _summary(paper: Paper, results: Results, found: dict[str, list[Reading]]) -> Iterator[str]:
    rows = [(str(kind), *map(str, counts)) for kind in Kind if any(counts := _counts(paper, results, kind))]
    yield _table(("claims", *map(str, Verdict)), rows)
    holding = [
        claim.words.rstrip(".")
        for claim in paper.claims
        if claim.kind is Kind.COMPARISON and claim.id in found and verdict(found[claim.id]) is Verdict.HOLDS
    ]
    if holding:
        yield f"**What holds**, of comparisons and trends: {_plain('; '.join(holding))}.\n"


def _disagreements(paper: Paper, found: dict[str, list[Reading]]) -> Iterator[str]:
    """What does not hold, or not in every reading, by cause."""
    broken = [
        claim
        for claim in paper.claims
        if claim.id in found and verdict(found[claim.id]) in (Verdict.FAILS, Verdict.PARTLY)
    ]
    if not broken:
        yield "Nothing that could be tested disagrees.\n"
        return
    yield "**What does not hold, or not in every reading, and why:**\n"
    for cause in (*Cause, None):
        some = [claim for claim in broken if claim.cause is cause]
        if some:
            yield f"*{str(cause or 'unexplained').capitalize()}*\n"
            yield "".join(
                f"- {_plain(claim.words.rstrip('.'))} ({_plain(claim.where)}): {_plain(told(found[claim.id]))}."
                f"{' ' + _plain(claim.why) if claim.why else ''}\n"
                for claim in some
            )


def _row(claim: Claim, readings: Sequence[Reading]) -> tuple[str, str, str]:
    fitted = " *(fitted: the records or the taxonomy were chosen to agree with the text)*" if claim.is_fitted else ""
    quoted = f" “{_cell(claim.quote)}”" if claim.quote else ""
    said = f"{_cell(claim.words)}{quoted} ({_cell(claim.where)}){fitted}"
    tried = "<br>".join(
        f"{MARKS[reading.holds]}: {f'*{_cell(reading.name)}*: ' if reading.name else ''}{_cell(reading.ours)}"
        for reading in readings
    )
    if len(readings) > SHOWN:
        tried = f"<details><summary>{_summed_up(readings)}</summary>{tried}</details>"
    found = verdict(readings)
    cause = f"<br>{claim.cause or 'unexplained'}" if found in (Verdict.FAILS, Verdict.PARTLY) else ""
    return _Raw(said), _Raw(tried), _Raw(f"{_cell(told(readings))}{cause}")


def _summed_up(readings: Sequence[Reading]) -> str:
    answers = [reading.holds for reading in readings]
    counts = {word: answers.count(holds) for holds, word in ((True, "yes"), (False, "no"), (None, "undecided"))}
    return f"{len(readings)} readings: {', '.join(f'{count} {word}' for word, count in counts.items() if count)}"


def _panels(experiment: Experiment, outcome: Outcome) -> Iterator[str]:
    yield f'<a id="{experiment.name}"></a>\n\n### {experiment.name}: {_plain(experiment.title)}\n'
    yield f"{_plain(experiment.setting)}\n"
    if outcome.not_run:
        yield f"Not run: {_plain(outcome.not_run)}\n"
    if outcome.panels:
        tables = [
            f"{_plain(panel.title)}: {_plain(panel.y_label)}\n\n{_panel_table(panel)}" for panel in outcome.panels
        ]
        yield "<details><summary>The numbers</summary>\n\n" + "\n".join(tables) + "\n</details>\n"


def _panel_table(panel: Panel) -> str:
    rows = [(name_of(x), *(figure(line.at(x)) for line in panel.lines)) for x in axis_of(panel.lines)]
    noted = {line.note: [other.name for other in panel.lines if other.note == line.note] for line in panel.lines}
    notes = [f"- {_plain(', '.join(names))}: {_plain(note)}\n" for note, names in noted.items() if note]
    return _table((panel.x_label, *(line.name for line in panel.lines)), rows) + "\n" + "".join(notes)


# -- Markdown ---------------------------------------------------------------------------------------------------------


class _Raw(str):
    """A cell that is Markdown already."""


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "".join("| " + " | ".join(_cell(cell) for cell in line) + " |\n" for line in lines)


def _cell(text: str) -> str:
    return text if isinstance(text, _Raw) else _plain(text).replace("|", "\\|").replace("\n", " ")


def _plain(text: str) -> str:
    """Text in which nothing is taken for HTML."""
    return text.replace("&", "&amp;").replace("<", "&lt;")
