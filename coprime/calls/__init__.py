"""Engines of byte strings: what one offers to bus, drivers and command line, without numbers."""
