"""Pure decisions: nothing here reads a clock, a setting or a store."""
