"""``setveil ui``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from setveil.cli.app import app


@app.command(epilog="Example: setveil ui baskets.csv")
def ui(
    file: Annotated[Path | None, typer.Argument(metavar="[FILE]", help="Data file to open.")] = None,
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="Port. Default: 8765, or any free port.")] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address; do not open a browser.")] = False,
    demo: Annotated[
        bool, typer.Option("--demo", help="Open the bundled data with a finished comparison of three releases.")
    ] = False,
    host: Annotated[
        str, typer.Option(help="Address to listen on. Other machines can reach every address except 127.0.0.1.")
    ] = "127.0.0.1",
) -> None:
    """Open data, choose a guarantee, compare runs and hand over a release in a browser, on this machine only."""
    from importlib.util import find_spec

    from setveil.errors import InputError

    if find_spec("nicegui") is None:
        raise InputError('the web page needs NiceGUI; install it with: pip install "setveil[ui]"')
    from setveil.web.server import serve

    serve(file, host=host, port=port, opens_browser=not no_browser, is_demo=demo)
