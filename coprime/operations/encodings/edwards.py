"""Points of twisted Edwards curves, a x^2 + y^2 = 1 + d x^2 y^2 modulo p, and EdDSA's numbers."""

from collections.abc import Callable, Sequence
from random import Random

from coprime.model.combs import COMB_TEETH, joint_tooth, tooth
from coprime.model.edwards_points import comb_table, multiple, of_table, on_curve
from coprime.model.scalar_blinding import comb_bits
from coprime.program.operands import PAIRS_OF_TABLE, POINTS, TABLE_T_COORDINATES, Operand

from ..curve_form import EDWARDS
from ..operation import Numbers, Operation
from .pairs import Pairs, Point
from .radix import NumberEngine, Radix

Join = Callable[[int, int, int], int]
"""The exponent of two scalars, for columns whose tooth has so many bits."""


class EdwardsPairs(Pairs):
    """Y is a and d; the table is that of a comb, or of two scalars `joins` makes the exponent."""

    form = EDWARDS.name

    def __init__(self, operation: Operation, joins: Join | None = None):
        super().__init__(operation)
        self._joins = joins

    def joined(self, scalars: list[int], bits: int) -> int:
        """Two scalars as columns, one as it is."""
        if self._joins is None:
            return super().joined(scalars, bits)
        s, h = scalars
        return self._joins(s, h, bits // COMB_TEETH)

    def table(
        self, numbers: Numbers, length: int, engine: NumberEngine
    ) -> tuple[dict[Operand, int], int]:
        """The base point's, with what an exponent is made odd with; or the base point alone."""
        radix, half = Radix.of(engine), engine.half_bits
        g, a, d = (numbers["gx"], numbers["gy"]), numbers["a"], numbers["d"]
        p, n = numbers["p"], numbers["n"]
        if self._joins is not None:
            teeth = COMB_TEETH * joint_tooth(n, length, radix.width, radix.headroom)
            table = _table_of(radix, [g], d, p, length, half)
            return {Operand.M: 1 << n.bit_length()} | table, teeth
        blinding_bits = comb_bits(length) if engine.blinds_scalars else 0
        bits = tooth(length, radix.width, radix.headroom, blinding_bits)
        points = comb_table(g, bits, a, d, p)
        teeth = COMB_TEETH * bits
        unit = (1 << 2 * radix.exponent(length)) * (n + 1) // 2 % n
        scalars = {Operand.M: 1 << (teeth - 1) | unit << half}
        return scalars | _table_of(radix, points, d, p, length, half), teeth

    def is_on_curve(self, point: Point, lower: int, upper: int, p: int) -> bool:
        """With a and d."""
        return on_curve(point, lower, upper, p)

    def drawn(self, domain: Numbers, generator: Random, *, worst: bool = False) -> dict[str, int]:
        """A key, a nonce, a hash, and their signature; for measurements only."""
        n = domain["n"]
        key, r, h = (generator.randrange(n) for _ in range(3))
        base, curve = (domain["gx"], domain["gy"]), (domain["a"], domain["d"], domain["p"])
        (x, y), (xr, yr) = (multiple(base, scalar, *curve) for scalar in (key, r))
        known = {**domain, "x": x, "y": y, "xr": xr, "yr": yr, "k": r, "r": r, "h": h}
        known["s"] = (r + h * key) % n
        return {
            input_.name: key if input_.is_secret else known[input_.name]
            for input_ in self.operation.inputs
        }


def _table_of(
    radix: Radix, points: Sequence[Point], d: int, p: int, length: int, half: int
) -> dict[Operand, int]:
    """Points of an Edwards curve as a table has them, in Montgomery form."""
    power = 1 << radix.exponent_of_field(p, length)
    numbers = [[number * power % p for number in of_table(point, d, p)] for point in points]
    numbers += [[0, 0, 0]] * (POINTS - len(points))
    thirds = [third for *_, third in numbers]
    return {
        operand: low | high << half
        for operand, (low, high) in zip(
            (*PAIRS_OF_TABLE, *TABLE_T_COORDINATES),
            (*((u, v) for u, v, _ in numbers), *zip(thirds[::2], thirds[1::2], strict=True)),
            strict=True,
        )
    }
