"""Modular exponentiation as steps of the engine, one file each."""
