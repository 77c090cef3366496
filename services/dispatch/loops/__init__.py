"""Handlers without a caller. Each is safe to run in several replicas at once."""
