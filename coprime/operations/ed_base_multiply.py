"""ED_BASE_MULTIPLY: k B on a twisted Edwards curve, both coordinates: public keys, R of EdDSA."""

from functools import partial

from coprime.model.edwards_points import base_multiple
from coprime.program.builder import Builder
from coprime.program.operands import TABLE, Context, Operand
from coprime.program.steps import Step

from .curve_form import EDWARDS
from .ec_base_multiply import multiply_base_point
from .encodings.edwards import EdwardsPairs
from .encodings.pairs import POINT
from .operation import Input, Machine, Operation
from .weierstrass import ENTER, USED_UP

CURVE = (
    Input(name="a", operand=Operand.Y, meaning="coefficient a of the curve: 1, or p - 1"),
    Input(name="d", operand=Operand.Y, upper=True, meaning="coefficient d of the curve"),
    Input(name="p", operand=Operand.P, meaning="prime modulus p of the curve"),
    Input(name="n", operand=Operand.Q, meaning="prime order n of the base point"),
)
BASE = (
    Input(name="gx", operand=Operand.TABLE_0, meaning="coordinate x of the base point"),
    Input(name="gy", operand=Operand.TABLE_0, upper=True, meaning="coordinate y of the base point"),
)
edwards_operation = partial(
    Operation,
    uses_up=USED_UP,
    encoding_of=EdwardsPairs,
    moduli=(Context.Q, Context.P),
    optional=True,
    setting=("curves", EDWARDS.name),
)
"""A record, with what all operations on these curves have."""


def on_two_banks(machine: Machine) -> list[list[Step]]:
    """On the leading lane."""
    code = Builder()
    code.p.check_modulus()
    code.q.check_modulus()
    code.q.check_below(Operand.E, Operand.E)
    code.call(ENTER)
    multiply_base_point(code, machine, EDWARDS)
    return [code.steps]


_READS = frozenset(
    {
        *(Operand.Y, Operand.E, Operand.M, *TABLE),
        *(Operand.P, Operand.P_INVERSE, Operand.P_POWER, Operand.DP),
        *(Operand.Q, Operand.Q_INVERSE, Operand.Q_POWER),
    }
)

ED_BASE_MULTIPLY = edwards_operation(
    name="ED_BASE_MULTIPLY",
    code=13,
    doc="E times the base point of TABLE on the twisted Edwards curve Y modulo P.",
    formula="k · (gx, gy) on a·x² + y² = 1 + d·x²·y² modulo p",
    inputs=(Input(name="k", operand=Operand.E, meaning="scalar k"), *BASE, *CURVE),
    outputs=POINT,
    has_comb=True,
    result=base_multiple,
    checks=True,
    blinds=True,
    reads=lambda arithmetic: _READS,
    banked=on_two_banks,
)
