"""The cells that every multiplier is built from, with a variant for each target."""
