"""Sweeps: many designs, measured the same way.

- `specification`: a TOML file becomes the points to measure, with their tasks; those that come with
  this package are beside it
- `worker`: a task becomes a measurement, kept by its content; `workers`: where workers run
- `sweep`: tasks on a Dask cluster, measurements into a results file
"""
