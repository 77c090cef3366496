"""One file for each RPC of moderation."""
