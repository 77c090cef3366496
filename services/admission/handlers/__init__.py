"""One file for each RPC."""
