"""Hierarchies from files and back."""
