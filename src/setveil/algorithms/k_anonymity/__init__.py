"""k-anonymity: every published record occurs at least k times."""
