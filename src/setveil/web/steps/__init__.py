"""One file per step of the page: what it shows and which workflow it asks."""
