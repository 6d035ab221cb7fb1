"""The publications' figures as data, each with its paper, table and page; never our own."""
