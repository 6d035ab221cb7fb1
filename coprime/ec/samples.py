"""Numbers for measurements and tests of operations on curves, and curves that are short enough."""

import random
from collections.abc import Mapping

from coprime.operations.commands import Command
from coprime.operations.curve_form import EDWARDS, WEIERSTRASS

from .edwards import CURVES as EDWARDS_CURVES
from .edwards import EdwardsCurve
from .montgomery import CURVES as MONTGOMERY_CURVES
from .montgomery import MontgomeryCurve
from .names import find_curve, hint_curve
from .weierstrass import CURVES, WeierstrassCurve

SHORT_WEIERSTRASS = WeierstrassCurve(
    "64 bits",
    p=0xF2CDCB53865283D3,
    a=0x49E0935B6EB02444,
    b=0x119180B366CF59BF,
    n=0xF2CDCB54080F845D,
    base=(4, 0x6470D1771DE71ECC),
)
"""For fault campaigns, and too short for anything else: by complex multiplication with -11."""


_P = 0xF2A74DE452E6B5B5
SHORT_EDWARDS = EdwardsCurve(
    "64 bits",
    p=_P,
    a=_P - 1,
    d=163,
    n=0x3CA9D378A80DB18F,
    base=(0x3E29483C162B9069, 0x2CAE1D6B23B89CC0),
    size=9,
    cofactor=4,
    prefix=b"",
    always=False,
)
"""The same, with points counted by baby steps and giant steps."""
PointCurve = WeierstrassCurve | EdwardsCurve
"""Has points with both coordinates."""
AnyCurve = MontgomeryCurve | PointCurve

SHORT_CURVES: Mapping[str, tuple[PointCurve, ...]] = {
    WEIERSTRASS.name: (
        SHORT_WEIERSTRASS,
        WeierstrassCurve("7 bits", p=127, a=124, b=72, n=137, base=(126, 70)),
    ),
    EDWARDS.name: (
        SHORT_EDWARDS,
        EdwardsCurve("7 bits", 127, 1, 10, 31, (2, 71), 1, 4, b"", always=False),
    ),
}
"""By the form of curves, the longest one first."""


_NAMED: Mapping[str, tuple[AnyCurve, ...]] = {
    "montgomery": MONTGOMERY_CURVES,
    WEIERSTRASS.name: CURVES,
    EDWARDS.name: EDWARDS_CURVES,
}
"""By the form of curves, as an encoding has it."""


def curves_of(command: Command) -> tuple[AnyCurve, ...]:
    """The curves that an operation works on; none for an operation that is for no curve."""
    return _NAMED.get(command.operation.encoding.form, ())


def curve_for(command: Command, name: str) -> AnyCurve:
    """Look a curve up, as `find_curve`; ValueError that names those that the operation works on."""
    curves = curves_of(command)
    found = find_curve(name, curves)
    if found is None:
        nearest = hint_curve(name, curves)
        raise ValueError(f"{command.name} has no curve that is called {name!r}; {nearest}")
    return found


def curve_of_length(command: Command, bits: int) -> AnyCurve:
    """The first curve over a field of so many bits; ValueError if there is none."""
    short = SHORT_CURVES.get(command.operation.encoding.form, ())[:1]
    lengths = {curve.p.bit_length(): curve for curve in (*reversed(curves_of(command)), *short)}
    if bits not in lengths:
        known = ", ".join(map(str, sorted(lengths)))
        raise ValueError(f"there is no curve over a field of {bits} bits, but of {known}")
    return lengths[bits]


def curve_numbers(command: Command, curve: AnyCurve, generator: random.Random) -> dict[str, int]:
    """The inputs of an operation on a curve, from a generator that is for measurements only."""
    return command.operation.encoding.drawn(curve.domain, generator)
