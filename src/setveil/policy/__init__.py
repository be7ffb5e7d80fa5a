"""Everything a data owner decides."""
