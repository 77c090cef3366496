"""Progress: what a running generation has said so far, and who wants to know."""
