"""Transactions from files and objects, and back: every layout, detected or named."""
