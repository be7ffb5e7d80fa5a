"""Obviously correct twins of the fast code: sets and itertools, one file per room. Slow on purpose."""
