"""Many engines on a chain of shift registers."""
