"""What a design takes: area, clock and cycles, measured; and choosing among measured designs.

How one design is measured:

- `measure`: area and clock: a design mapped, placed and routed
- `explain`: which multiple a design for one modulus works with, and its compressor tree
- `demo`: a decryption and a signature, with all of these figures

What measurements are used for:

- `points`: a measured point as data, and results files; coprime-evidence has what measures many
- `shipped`: the results that come with Coprime
- `choose`: the best designs under a budget; `on_curve`: on a curve that they were not measured with
- `rebuild`: the commands that measure a point again
- `design_figures`: those of a design, for its data sheet
"""
