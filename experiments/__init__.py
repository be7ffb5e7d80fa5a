"""The papers' experiments on our implementations: one file per paper, one ``Experiment`` per figure or table."""
