"""``setveil attack``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from setveil.cli import options as o
from setveil.cli.app import app
from setveil.cli.console import note_first_run, progress_bar, read_data, say, say_json, table


@app.command(epilog="Example: setveil attack baskets.csv release --known 1,2,3")
@o.reads_data
def attack(
    input: o.Input,
    out: Annotated[
        str,
        typer.Argument(metavar="OUT", help="A release folder, or its address. Linking needs OUT.internal next to it."),
    ],
    known: Annotated[str, typer.Option(help="Numbers of known items, as in 1,2,3,4.")] = "1,2,3,4",
    targets: Annotated[
        int, typer.Option(min=1, max=10**9, help="Number of people that each attacker tries to find.")
    ] = 10_000,
    sensitive: o.Sensitive = None,
    seed: o.Seed = None,
    reading: o.Reading = o.NOTHING,
    json: o.Json = False,
) -> None:
    """Carry out attacks on the original and on its release, and compare them with attacks on people who are not in the
    data.
    """
    from setveil.errors import name_some
    from setveil.report.figures import worst_of
    from setveil.report.lights import risk_words
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
        ("singled out before", "singled_out", "before"),
        ("after", "singled_out", "after"),
        ("control", "singled_out", "control"),
        ("wrong match", "wrong_match", "after"),
        ("linked before", "linked", "before"),
        ("after", "linked", "after"),
        ("guessed right before", "right_guess", "before"),
        ("after", "right_guess", "after"),
        ("control", "right_guess", "control"),
    )
    attacks = [row.to_dict() for row in result.rows]
    rates = [[(row[name] or {}).get(side) for _, name, side in columns] for row in attacks]
    shown = [place for place in range(len(columns)) if any(line[place] is not None for line in rates)]
    rows = [
        (row["attacker"], str(row["known"]), *(_percent(line[place]) for place in shown))
        for row, line in zip(attacks, rates, strict=True)
    ]
    table(("attacker", "items", *(columns[place][0] for place in shown)), rows)
    say(f"{targets:,} people attacked by each attacker. Shares are of people with at least as many items.")
    say("Singled out: exactly one record matches, and it is the right one. Wrong match: it is another person's.")
    also = attacks[0].get("known_columns") if attacks else None
    if also:
        say(f"Attackers also know the columns {name_some(also)} of the person; 0 items: these alone.")
    say("Control: people who are not in the published data. 95 % intervals are in the JSON output.")
    worst = worst_of(attacks, result.published)
    if worst is not None:
        say(f"The worst attacker: {risk_words(worst)}")
    _show_inference(attacks)
    if result.guesses is not None:
        _show_guesses(result.guesses)
    if result.left_out is not None:
        _show_left_out(result.left_out)
    for line in result.notes:
        say(line)


def _show_inference(attacks: list[dict[str, Any]]) -> None:
    """What known items reveal about further ones, for each attacker whose candidates show every known item."""
    from setveil.report.figures import worst_inference

    worst = worst_inference(attacks)
    if worst is None:
        return
    say(f"\nInference: of how many people the attacker becomes certain of {worst.what}, or sure with more than 50 %")
    names = ("certain", "likely") if worst.is_named else ("certain", "likely", "certain_category")
    sides = ("before", "after", "control")
    header = ["certain before", "after", "control", "above 50 % before", "after", "control"]
    header += [] if worst.is_named else ["category certain before", "after", "control"]
    rows = [
        (row["attacker"], str(row["known"]), *(_percent(row[name][side]) for name in names for side in sides))
        for row in attacks
        if row["certain"]
    ]
    table(("attacker", "items", *header), rows)
    base = "people with at least as many items" + (" and a sensitive item" if worst.is_named else "")
    say(f"Shares are of {base}. Only true conclusions count. {worst.sentence}.")


def _percent(rate: Any) -> str:
    from setveil.report.words import percent

    return percent(None if rate is None else rate[0])


def _show_guesses(guesses: Any) -> None:
    """Who of a group has its sensitive item: every guesser beside chance, random holders apart from the real ones."""
    from setveil.report.words import percent

    titles = (("random holders", guesses.random), ("real holders", guesses.real))
    parts = [(title, part) for title, part in titles if part]
    if not parts:
        return
    say("\nCorrect guesses of who in a group has a sensitive item:")
    rows = [
        (guesser.name, *(_percent(part.rate(guesser.name)) for _, part in parts)) for guesser in parts[0][1].guessers
    ]
    rows.append(("control: a random record", *(percent(part.at_random) for _, part in parts)))
    table(("guesser", *(title for title, _ in parts)), rows)
    if guesses.promised is not None:
        say(f"Guarantee: at most {percent(guesses.promised)}. Random holders: the sensitive items were assigned to")
        say("random people, so these guesses show what the algorithm reveals. Real holders: public items also predict")
        say("sensitive ones, which no grouping can prevent.")


def _show_left_out(found: Any) -> None:
    """What suppressed entries reveal: to an attacker who knows two items, and to one who runs the program again."""
    from setveil.report.words import percent

    say("\nThe attacker knows two items, and the person's record does not show both:")
    rows = [
        ("share of people with two items", _percent(found.concerned)),
        ("of these: no record shows both", _percent(found.nowhere)),
        ("of these: records show both, none of them theirs", _percent(found.misled)),
        ("right record picked among those with one of the two", _percent(found.picked)),
    ]
    if found.replayed is not None:
        rows.append(
            (f"suppressed item guessed by running the program again ({found.n_replayed})", _percent(found.replayed))
        )
        rows.append(("control: a random guess", percent(found.blindly)))
    table(("attack", "measured"), rows)
    if found.promised is not None:
        say(f"Guarantee: the right record is picked with at most {percent(found.promised)}.")
        say("There is no guarantee against an attacker who runs the program again.")
