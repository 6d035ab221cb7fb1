"""Specifications of sweeps that come with Coprime, by name."""

from collections.abc import Mapping

SPECIFICATIONS: Mapping[str, tuple[str, ...]] = {
    "shipped": ("shipped",),
    "curves": ("curves",),
    "targets": ("targets",),
    "combinations": ("combinations",),
    "calls": ("calls",),
    "papers": ("papers", "compression"),
    "compression": ("compression",),
    "all": ("shipped", "curves", "combinations", "calls", "families", "papers"),
    "full": (
        *("shipped", "curves", "combinations", "calls"),
        *("families", "papers", "compression", "full"),
    ),
}
"""Each with the files that it is made of."""
