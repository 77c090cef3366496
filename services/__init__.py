"""One folder per process; none imports another."""
