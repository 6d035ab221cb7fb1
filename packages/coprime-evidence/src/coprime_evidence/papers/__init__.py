"""The publications' figures as data, each with its paper and table; never our own."""
