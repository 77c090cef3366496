"""What media does without being asked."""
