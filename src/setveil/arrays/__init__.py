"""Compiled loops that several rooms share: arrays in, arrays out, no classes, no input or output.

Every loop is decorated with ``compiled`` from ``setveil.arrays.compiling``: plain Numba, kept on disk.
Loops that serve one algorithm live beside it, in a private module.
"""
