"""KARATSUBA's Montgomery multiplier of very high radix, and the parts that it consists of."""
