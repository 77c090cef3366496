"""One file for each RPC of media."""
