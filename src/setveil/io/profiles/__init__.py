"""What the columns of a table hold, seen from their cells, and which roles they could have."""
