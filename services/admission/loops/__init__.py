"""Work without a caller."""
