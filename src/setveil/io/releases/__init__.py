"""Releases as files, in folders that appear whole or not at all."""
