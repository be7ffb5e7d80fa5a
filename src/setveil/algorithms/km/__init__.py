"""k^m-anonymity: every combination of up to m published items occurs at least k times."""
