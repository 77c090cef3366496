"""The decisions, pure: no clock, no store, no proto. Also the words that the other rooms share."""
