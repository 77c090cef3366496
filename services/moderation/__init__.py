"""Moderation: whether a prompt or an address is refused, what is remembered of it, and for how long."""
