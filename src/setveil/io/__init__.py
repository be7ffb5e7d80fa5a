"""Readers and writers. Transactions here; hierarchies and releases have modules of their own."""

from setveil.io.transactions.reading import extension, layout_for, read_transactions, read_written, write_transactions

__all__ = ["extension", "layout_for", "read_transactions", "read_written", "write_transactions"]
