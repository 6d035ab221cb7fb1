"""The Weierstrass curves of key files that `cryptography` has, too, as parameters of tests."""

import pytest

from coprime.ec import keys

KEY_CURVES = [name for name, curve in keys.CURVES.items() if curve in keys._LIBRARY]
"""By name."""


def marked(names, *, quick):
    """The names as parameters, all but the quick ones slow."""
    return [
        pytest.param(name, marks=[] if name in quick else [pytest.mark.matrix]) for name in names
    ]
