"""Slips in a command line: what the parser refuses, in plain words, and what it would overlook."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from setveil.errors import InputError, one_line

WANTED = {  # what the parser says, and what to write instead; after a blank follows the last word of what it says
    "valid integer": "a whole number",
    "valid number": "a number",
    "valid float": "a number",
    "greater than or equal to": "at least ",
    "less than or equal to": "at most ",
}


def usage_words(problem: Any) -> str:
    """A usage error of the parser in one line, without its own words for options and types."""
    kind, parameter = type(problem).__name__, getattr(problem, "param", None)
    text = problem.format_message().rstrip(".")
    if kind == "NoSuchOption":
        letter = problem.option_name[1:]  # -l, given as --l
        known = [flag for one in problem.ctx.command.params for flag in one.opts]
        near = [letter] if letter in known else sorted(problem.possibilities or ())
        return f"unknown option {one_line(problem.option_name)}" + (f"; similar: {', '.join(near)}" if near else "")
    if kind == "NoSuchCommand" or text.startswith("No such command"):
        name, _, near = text.removeprefix("No such command ").rstrip("?").partition(". Did you mean ")
        return f"unknown command {name}{'; similar: ' if near else ''}{near}".replace("'", '"')
    if kind == "MissingParameter" and parameter is not None:
        return f"{_shown(parameter)} is missing"
    if "unexpected extra argument" in text:
        extra = text.partition(" (")[2].rstrip(")")
        return f'unexpected argument "{one_line(extra)}"; quote names that contain blanks'
    if kind == "BadOptionUsage" and "requires" in text:
        return f"{problem.option_name} needs a value"
    if kind == "BadOptionUsage" and "not take a value" in text:
        return f"{problem.option_name} takes no value"
    wanted = next((words for refusal, words in WANTED.items() if refusal in text), None)
    if parameter is None or wanted is None:
        return str(text)
    return f"{_shown(parameter)} must be {wanted}{text.rpartition(' ')[2] if wanted.endswith(' ') else ''}"


def _shown(parameter: Any) -> str:
    """An option by its flags, an argument by the name that the help shows."""
    if parameter.param_type_name == "option":
        return f"the option {' or '.join(parameter.opts)}"
    return f"the argument {parameter.metavar or parameter.name.upper()}"


def refuse_repeated(command: Any, arguments: Sequence[str]) -> None:
    """An option that is given twice, where the parser would take the last value and drop the others in silence."""
    words = list(arguments[: arguments.index("--")]) if "--" in arguments else list(arguments)
    while words and words[0] in getattr(command, "commands", {}):
        command = command.commands[words.pop(0)]
    options = {flag: one for one in command.params for flag in one.opts if one.param_type_name == "option"}
    seen = set()
    for flag in _flags(words, options):
        option = options[flag]
        if option.name in seen and not option.multiple and not option.is_flag:
            raise InputError(f"{flag} is given twice; give it once. A list is written in one value, as in {flag} a,b.")
        seen.add(option.name)


def _flags(words: Sequence[str], options: dict[str, Any]) -> Iterator[str]:
    """The options among the words; what follows an option that takes a value is its value."""
    is_value = False
    for word in words:
        flag, equals, _ = word.partition("=") if word.startswith("--") else (word, "", "")
        short = word[:2] if word[:1] == "-" and word[1:2] != "-" else ""
        if is_value:
            is_value = False
        elif flag in options:
            is_value = not equals and not options[flag].is_flag
            yield flag
        elif short in options:  # -k5
            yield short
