"""setveil: make transaction data safe to publish, prove it, and show what it cost."""
