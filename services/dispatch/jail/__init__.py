"""Where a reply is measured against the schema of a stranger: processes of their own, bounded in time and memory (decision 25)."""
