"""Points of short Weierstrass curves, y^2 = x^3 + a x + b modulo p, and signatures of ECDSA."""

from random import Random

from coprime.model.combs import COMB_TEETH, jacobian_tooth
from coprime.model.curve_points import comb_table, multiple, on_curve, signature
from coprime.model.scalar_blinding import comb_bits
from coprime.program.operands import PAIRS_OF_TABLE, Operand

from ..curve_form import WEIERSTRASS
from ..operation import Numbers
from .pairs import Pairs, Point
from .radix import NumberEngine, Radix


class WeierstrassPairs(Pairs):
    """Y is a and b; the table is that of a comb, or G alone where n is too short for one."""

    form = WEIERSTRASS.name

    def table(
        self, numbers: Numbers, length: int, engine: NumberEngine
    ) -> tuple[dict[Operand, int], int]:
        """Affine coordinates in Montgomery form."""
        radix, half = Radix.of(engine), engine.half_bits
        g, a, p, n = (numbers["gx"], numbers["gy"]), numbers["a"], numbers["p"], numbers["n"]
        blinding_bits = comb_bits(length) if engine.blinds_scalars else 0
        bits = jacobian_tooth(n, length, radix.width, radix.headroom, blinding_bits)
        points = comb_table(g, bits, a, p) if bits else None
        power = 1 << radix.exponent_of_field(p, length)
        table = [x * power % p | (y * power % p) << half for x, y in points or [g]]
        operands = {operand: table[k % len(table)] for k, operand in enumerate(PAIRS_OF_TABLE)}
        if points is None:
            return operands | {Operand.M: 1 << n.bit_length()}, length + blinding_bits + 1
        unit = (1 << 2 * radix.exponent(length)) * (n + 1) // 2 % n
        teeth = COMB_TEETH * bits
        return operands | {Operand.M: 1 << (teeth - 1) | unit << half}, teeth

    def is_on_curve(self, point: Point, lower: int, upper: int, p: int) -> bool:
        """With a and b."""
        return on_curve(point, lower, upper, p)

    def drawn(self, domain: Numbers, generator: Random, *, worst: bool = False) -> dict[str, int]:
        """A key, a nonce, a hash, and their signature; for measurements only."""
        n, curve = domain["n"], {name: domain[name] for name in ("a", "b", "p", "n")}
        d, k = (generator.randrange(1, n) for _ in range(2))
        z = generator.randrange(n)
        x, y = multiple(domain["gx"], domain["gy"], d, **curve)
        r, s = signature(z, d, k, domain["gx"], domain["gy"], **curve)
        known = {**domain, "x": x, "y": y, "d": d, "k": k, "z": z, "r": r, "s": s}
        return {input_.name: known[input_.name] for input_ in self.operation.inputs}
