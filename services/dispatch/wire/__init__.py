"""Between proto and the words of the rules, both ways. Decides nothing."""
