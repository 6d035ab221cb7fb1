"""The multiplier of `ring` and its parts."""
