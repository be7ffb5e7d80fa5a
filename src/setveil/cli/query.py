"""``setveil query``."""

from __future__ import annotations

from typing import Annotated

import typer

from setveil.cli import options as o
from setveil.cli.app import app
from setveil.cli.console import say, say_json


@app.command(epilog="Example: setveil query out --with milk,bread --without beer")
def query(
    out: Annotated[str, typer.Argument(metavar="OUT", help="A release folder, or its address.")],
    sensitive: Annotated[
        str | None, typer.Option(help="Groups with sensitive counts: the sensitive item to count.")
    ] = None,
    with_items: Annotated[str, typer.Option("--with", help="Items the records must have, as in a,b.")] = "",
    without: Annotated[str, typer.Option(help="Items the records must not have, as in c,d.")] = "",
    json: o.Json = False,
) -> None:
    """Estimate from a release how many records have some items and do not have others, with exact lower and upper
    bounds.
    """
    import setveil

    wanted, unwanted = (
        tuple(part.strip() for part in text.split(",") if part.strip()) for text in (with_items, without)
    )
    release = setveil.open_release(out, in_input_order=False)
    answer = setveil.query(release, sensitive, wanted, unwanted)
    if json:
        say_json(vars(answer))
        return
    source = {"listed": ", from listed counts", "scaling": ", by iterative scaling of listed counts"}
    words = source.get(getattr(answer, "source", ""), "")
    among = "" if sensitive is None else " of the published groups; suppressed entries are not counted"
    say(f"about {answer.estimate:,.1f} records; at least {answer.low:,}, at most {answer.high:,}{among}{words}")
