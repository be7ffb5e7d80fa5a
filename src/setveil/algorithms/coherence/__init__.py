"""(h, k, p)-coherence: what p known public items may reveal."""
