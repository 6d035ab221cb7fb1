"""The multiplier of `compact`, and its parts."""
