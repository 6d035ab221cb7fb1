"""Padding in hardware, beside an engine."""
