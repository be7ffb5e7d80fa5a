"""A second reader for originals: small, slow, strict, and with no code of the first one.

The first reader decides the layout and the columns; what the cells say the second one finds out by itself.
"""

from setveil.verify.originals.comparing import compare_readings, read_again
from setveil.verify.originals.layouts import NoReaderError

__all__ = ["NoReaderError", "compare_readings", "read_again"]
