"""Measuring points of the design space."""
