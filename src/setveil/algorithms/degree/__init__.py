"""Privacy degree: groups in which nobody is linked to a sensitive item with more than 1/p."""
