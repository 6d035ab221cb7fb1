"""The families for one modulus: name, summary and parameters of each, without hardware.

Their builder is in `fixed_design.py`.
"""

from coprime.engine.family import MODULUS, Family, multipliers_each
from coprime.exponentiators.names import EXPONENTIATORS, Exponentiator
from coprime.parameters import ChoiceParameter, ModulusParameter, Parameter

ANY_FACTOR = 0  # in place of c: the one of the cheapest multiple found
EXTRA_BITS = 2  # by how many bits such a multiple may be longer, if nothing else is asked for


def _family(
    name: str,
    summary: str,
    factor: int,
    factors: str,
    more: tuple[Parameter, ...] = (),
) -> Family:
    """The record of a family."""
    return Family(
        name=name,
        paper="COMPRESSION",
        summary=f"{summary}, for one modulus, one product per cycle",
        parameters=(
            ModulusParameter(
                MODULUS, "goldilocks", "the modulus: a name, or a number such as 2^255-19"
            ),
            Parameter(
                *("factor", factor, (1 << 32) - 1, factor),
                f"c: products are computed modulo c times the modulus{factors}",
            ),
            Parameter("word", 8, 64, 32, "bits of a digit of the operands"),
            multipliers_each(2),
            ChoiceParameter(
                *("exponentiator", EXPONENTIATORS, Exponentiator.RIGHT_TO_LEFT.value),
                "exponentiation algorithm; two multipliers work right-to-left",
            ),
            Parameter("window", 1, 4, 2, "bits of a window, if the exponentiator has windows"),
            *more,
        ),
        builder=f"coprime.fixed_modulus.fixed_design:{name}",
    )


COMPRESSION = _family(
    *("compression", "compressor trees", ANY_FACTOR, "; 0: the cheapest found"),
    (
        Parameter("extra_bits", 0, 16, EXTRA_BITS, "maximum bits that the multiple may add"),
        Parameter("stages", 0, 16, 0, "pipeline registers in a product"),
    ),
)
DIRECT = _family("direct", "the expression x * y % m", 1, "")
