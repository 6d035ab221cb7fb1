"""Algorithms on shares, whose sum is the value."""
