"""What moderation decides. Pure."""
