"""Elliptic curves on any accelerator that is built for them."""
