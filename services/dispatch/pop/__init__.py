"""The three steps of a pop: the worker checks in, takes a job off the queue, and is handed it."""
