"""Where a reply is measured against the schema of a stranger.

Processes of their own, bounded in time and memory (decision 25).
"""
