"""Measurements behind docs/results.md."""
