"""What another package adds to setveil."""
