"""The multiplier of `compact`, and the parts that it consists of."""
