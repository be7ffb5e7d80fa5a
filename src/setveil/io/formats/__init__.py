"""File formats of transactions, one file each: how a file is detected, read and written.

Importing a format is cheap: what reads and writes is imported when it is needed.
"""
