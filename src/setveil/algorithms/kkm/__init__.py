"""Algorithms for (k, k^m)-anonymity: columns beside the items."""
