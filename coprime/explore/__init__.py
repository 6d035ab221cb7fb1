"""Measuring points of the design space, choosing among them, and reporting them.

How one design is measured:

- `measure`: area and clock: a design mapped, placed and routed
- `explain`: which multiple a design for one modulus works with, and its compressor tree
- `demo`: a decryption and a signature, with all of these figures

How the design space is swept:

- `specification`: a TOML file becomes the points to measure, with their tasks
- `worker`: a task becomes a measurement, kept by its content
- `sweep`: tasks on a Dask cluster, measurements into a results file
- `points`: a measured point as data, and results files

What results are used for:

- `shipped`: the results that come with Coprime
- `choose`: the best designs under a budget; `on_curve`: on a curve that they were not measured with
- `rebuild`: the commands that measure a point again
- `side_by_side`: the papers' figures beside measured ones; `verdict`: what follows of a paper
- `design_figures`: those of a design, for its data sheet
- `plots`, `panels`, `report`: charts, the papers' views as charts, and the page
"""
