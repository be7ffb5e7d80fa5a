"""Privacy and utility constraints: items merged into sets, or suppressed."""
