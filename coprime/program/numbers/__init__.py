"""What programs do with numbers: proofs that none overflows, and the places where they lie.

`paths.py` follows each command through its steps. On its states `bounds.py` and `declarations.py`
prove sums, results and routines right, and `liveness.py` finds which numbers are needed at once, so
that `places.py` gives each a bank and a block.
"""
