"""Numeric loops only: arrays in, arrays out, no classes, no I/O.

Every kernel is decorated with ``compiled`` from ``kernels.compile``: Numba, cached on disk where a folder is writable.
"""
