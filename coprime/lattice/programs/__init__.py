"""The programs of both sides, and where their byte strings lie."""
