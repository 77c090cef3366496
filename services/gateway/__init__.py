"""The gateway: speaks HTTP, decides nothing."""
