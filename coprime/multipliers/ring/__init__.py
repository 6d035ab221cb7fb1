"""The multiplier of `ring`, and the parts that it consists of."""
