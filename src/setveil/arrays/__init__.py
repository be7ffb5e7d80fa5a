"""Compiled loops that several rooms share: arrays in, arrays out, no classes, no input or output.

Every kernel is decorated with ``compiled`` from ``setveil.kernels``: Numba, cached on disk where a folder is writable.
Loops that serve one algorithm live beside it, in a private module.
"""
