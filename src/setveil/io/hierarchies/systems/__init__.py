"""Code systems: hierarchies whose chapters and blocks are known, one file each."""
