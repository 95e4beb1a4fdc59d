"""Scripts that measure; each prints a table."""
