"""What setveil costs to run, measured from outside: ``python -m benchmarks.NAME``."""
