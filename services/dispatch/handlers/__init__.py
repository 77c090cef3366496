"""One file for one RPC: it reads, decides by a rule, writes and answers."""
