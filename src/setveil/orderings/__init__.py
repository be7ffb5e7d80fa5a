"""Orderings put similar records side by side: a function from data to record numbers."""

from setveil.orderings.gray import gray_order

__all__ = ["gray_order"]
