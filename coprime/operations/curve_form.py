"""What distinguishes the forms of curves in programs that both have: the names of routines."""

from dataclasses import dataclass

from coprime.program.operands import Scratch

from .banked import Banked


class Curve(Scratch):
    """Coefficients of a curve, in Montgomery form."""

    CURVE_A = 92
    """The coefficient a of a short Weierstrass curve."""
    EDWARDS_A = 93
    """That of an Edwards curve, which lies in the other bank."""
    CURVE_3B = 94
    """Three times its coefficient b."""
    CURVE_D = 95
    """The coefficient d of an Edwards curve."""


@dataclass(frozen=True)
class CurveForm:
    """The routines of a form of curves, and what they keep of a curve.

    Parameters
    ----------
    name : as the parameter `curves` has it
    enter_field : modulo P from there on, with what the others read, and Y below P
    multiply_base : E times the base point
    randomized : the same, beginning with random coordinates
    affine : X and Y by Z, canonical, on the curve
    on_curve : is a point on the curve?
    result_on_curve : the end of an operation whose result is a point
    constants : what `on_curve` reads beside the point
    """

    name: str
    enter_field: str
    multiply_base: str
    randomized: str
    affine: str
    on_curve: str
    result_on_curve: str
    constants: tuple[Scratch, ...]


WEIERSTRASS = CurveForm(
    "weierstrass",
    enter_field="enter_field",
    multiply_base="base_point",
    randomized="randomized_base_point",
    affine="affine",
    on_curve="on_curve",
    result_on_curve="result_on_curve",
    constants=(Curve.CURVE_A, Curve.CURVE_3B),
)
EDWARDS = CurveForm(
    "edwards",
    enter_field="enter_edwards_field",
    multiply_base="edwards_base_point",
    randomized="randomized_edwards_base_point",
    affine="edwards_affine",
    on_curve="on_edwards_curve",
    result_on_curve="result_on_edwards_curve",
    constants=(Curve.EDWARDS_A, Curve.CURVE_D, Banked.ONE_FORM),
)
