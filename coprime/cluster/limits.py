"""Limits of a cluster's size."""

MAX_CORES = 1023
MAX_LINK_REGISTERS = 2
"""Maximum number of additional registers of a node: one at its end, then one at its beginning."""
