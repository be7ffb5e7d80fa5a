"""Sensitive rules: what listed combinations of public items reveal."""
