"""One file for each RPC: check, decide, write, answer."""
