"""The engine's operations as lists of steps, one file each."""
