"""dispatch: which waiting job goes to which worker, for how long, and what became of it."""
