"""What moderation does without being asked."""
