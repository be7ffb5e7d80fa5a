"""Algorithms for tables of counts."""
