"""What these tests expect of messages is written as the command line says it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from setveil.errors import speaking_of_options


@pytest.fixture(autouse=True)
def _spoken() -> Iterator[None]:
    with speaking_of_options():
        yield
