"""Measurements that `make bench` writes to docs/results.md."""
