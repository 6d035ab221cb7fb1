"""What distinguishes the forms of curves in programs that both have: the names of routines."""

from dataclasses import dataclass

from coprime.program.operands import Scratch


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
    constants=(Scratch.CURVE_A, Scratch.CURVE_3B),
)
EDWARDS = CurveForm(
    "edwards",
    enter_field="enter_edwards_field",
    multiply_base="edwards_base_point",
    randomized="randomized_edwards_base_point",
    affine="edwards_affine",
    on_curve="on_edwards_curve",
    result_on_curve="result_on_edwards_curve",
    constants=(Scratch.EDWARDS_A, Scratch.CURVE_D, Scratch.ONE_FORM),
)
