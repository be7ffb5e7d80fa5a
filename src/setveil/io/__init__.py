"""Files and objects to transactions, hierarchies and releases, and back."""
