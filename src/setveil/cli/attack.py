"""``setveil attack``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from setveil.cli import options as o
from setveil.cli.console import note_first_run, progress_bar, read_data, say, say_json, table


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(epilog="Example: setveil attack baskets.csv release --known 1,2,3")(attack)


@o.reads_data
def attack(
    input: o.Input,
    out: Annotated[
        Path, typer.Argument(metavar="OUT", help="A release folder; with OUT.internal beside it for linking.")
    ],
    known: Annotated[str, typer.Option(help="Numbers of known items, as in 1,2,3,4.")] = "1,2,3,4",
    targets: Annotated[int, typer.Option(min=1, max=10**9, help="How many people are attacked.")] = 10_000,
    sensitive: o.Sensitive = None,
    seed: o.Seed = None,
    reading: o.Reading = o.NOTHING,
    json: o.Json = False,
) -> None:
    """Attack the original and its release, and see how often it works: before, after, and against people not in the
    data.
    """
    from setveil.workflows import folder, policies

    numbers = o.numbers_of(known)
    note_first_run()
    with progress_bar() as progress:
        data = read_data(input, reading)
        listed = policies.list_sensitive(sensitive, data) if sensitive else None
        result = folder.attack_folder(
            data, out, known=numbers, targets=targets, seed=seed or 0, sensitive=listed, progress=progress
        )
    if json:
        say_json({"input": data.facts(), **result.to_dict()})
        return
    columns = (
        ("singled out before", "before", "singled_out"),
        ("after", "after", "singled_out"),
        ("one fits, control", "control", "claimed"),
        ("linked before", "before", "linked"),
        ("after", "after", "linked"),
        ("inferred before", "before", "inferred"),
        ("after", "after", "inferred"),
        ("control", "control", "inferred"),
    )
    rates = [[getattr(getattr(row, side), name, None) for _, side, name in columns] for row in result.rows]
    shown = [place for place in range(len(columns)) if any(line[place] is not None for line in rates)]
    rows = [
        (row.strategy, str(row.known), *(_percent(line[place]) for place in shown))
        for row, line in zip(result.rows, rates, strict=True)
    ]
    table(("knows", "items", *(columns[place][0] for place in shown)), rows)
    say(f"{targets:,} people attacked; 95 % intervals are in the JSON output.")
    say("Control: people who are not in the published data.")
    if result.guesses is not None:
        _show_guesses(result.guesses)
    if result.left_out is not None:
        _show_left_out(result.left_out)
    for line in result.notes:
        say(line)


def _percent(rate: Any) -> str:
    return "–" if rate is None else f"{100 * rate.value:.2f}%"


def _show_guesses(guesses: Any) -> None:
    """Who of a group holds its sensitive item: every guesser beside chance, random holders apart from the real ones."""
    parts = [(title, part) for title, part in (("random holders", guesses.random), ("real ones", guesses.real)) if part]
    if not parts:
        return
    say("\nWho of a group holds its sensitive item? Right guesses:")
    rows = [
        (guesser.name, *(_percent(part.rate(guesser.name)) for _, part in parts)) for guesser in parts[0][1].guessers
    ]
    rows.append(("anybody", *(f"{100 * part.at_random:.2f}%" for _, part in parts)))
    table(("guesser", *(title for title, _ in parts)), rows)
    if guesses.promised is not None:
        say(f"Promised: at most {100 * guesses.promised:.2f}%. Random holders show what the algorithm gives away,")
        say("the real ones what people's habits give away as well; no grouping can undo that.")


def _show_left_out(found: Any) -> None:
    """What entries that were left out give away: to somebody who knows two items, and to who replays the program."""
    say("\nTwo items are known, and the person's record does not show both:")
    rows = [
        ("so many people", _percent(found.concerned)),
        ("of these: no record shows both", _percent(found.nowhere)),
        ("of these: records do, none of them theirs", _percent(found.misled)),
        ("right one picked among those with one of the two", _percent(found.picked)),
    ]
    if found.replayed is not None:
        rows.append((f"item left out guessed by replaying ({found.n_replayed})", _percent(found.replayed)))
        rows.append(("the same blindly", f"{100 * found.blindly:.2f}%"))
    table(("what", "measured"), rows)
    if found.promised is not None:
        say(f"Promised: the right record is picked in at most {100 * found.promised:.2f}%; nothing about replaying.")
