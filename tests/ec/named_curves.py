"""The Weierstrass curves of key files, as parameters of tests."""

import pytest

from coprime.ec import keys
from coprime.ec.weierstrass import CURVES_BY_NAME

KEY_CURVES = [name for name in keys.CURVES if name in CURVES_BY_NAME]
"""By name."""


def marked(names, *, quick):
    """The names as parameters, all but the quick ones slow."""
    return [pytest.param(name, marks=[] if name in quick else [pytest.mark.slow]) for name in names]
