"""The ports of a multiplier that reads two digits of each bank in a cycle."""

from collections.abc import Mapping

from amaranth.hdl import Const, Module, Mux, Signal, Value
from amaranth.lib import wiring

from coprime.multipliers.contract import Pair
from coprime.program.operands import Core, Mode

from .bank_access import (
    INVERSES,
    MODULUS_OPERANDS,
    Blocks,
    Detour,
    ProductAccess,
    StepInBanks,
    is_right,
)


class PairPorts:
    """For `BankedMultiplierSignature`: each port reads a digit, or port B of a bank writes.

    A product's multiplicand lies left and its multiplier right; a square's factor left. The scaled
    modulus lies left and the quotient right, a modulus left and its inverse right.

    Parameters
    ----------
    multiplier : the multiplier's ports
    """

    def __init__(self, multiplier: wiring.PureInterface, blocks: Blocks):
        self.multiplier, self.blocks = multiplier, blocks

    def connect(self, m: Module, step: StepInBanks, banks: Mapping[str, Value]) -> ProductAccess:
        """Connect the digits that the banks read; say what is asked of the ports."""
        multiplier, blocks = self.multiplier, self.blocks
        left, right = (Signal(blocks.layout.block_bits, name=f"pair_{k}") for k in ("x", "y"))
        m.d.comb += [
            multiplier.squares.eq(~is_right(step.y)),
            multiplier.a_left.eq(banks["a_left"]),
            multiplier.a_right.eq(banks["a_right"]),
            multiplier.b_left.eq(banks["b_left"]),
            multiplier.b_right.eq(banks["b_right"]),
            left.eq(step.x),
            right.eq(step.y),
        ]
        with m.Switch(multiplier.a_role):
            inverse = blocks.of_context(INVERSES, step.modulus)
            with m.Case(Pair.QUOTIENT):
                m.d.comb += left.eq(blocks.of(Core.SCALED))
                m.d.comb += right.eq(blocks.of(Core.QUOTIENT))
            with m.Case(Pair.MODULUS):
                m.d.comb += left.eq(blocks.of_context(MODULUS_OPERANDS, step.modulus))
                m.d.comb += right.eq(inverse)
            with m.Case(Pair.RESULT):
                m.d.comb += [left.eq(step.destination), right.eq(inverse)]
        quotient = multiplier.b_write & multiplier.b_quotient
        reads_pair = ~multiplier.b_write
        # Neither a square nor a product by 1 reads its multiplier.
        alone = ~is_right(step.y) | (step.y == blocks.of(Mode.ONE))
        reads_right = ~((multiplier.a_role == Pair.FACTORS) & alone)
        return ProductAccess(
            a_left=left,
            a_right=right,
            a_index=multiplier.a_index,
            b_index=multiplier.b_index,
            reads_inverse=multiplier.a_role.matches(Pair.MODULUS, Pair.RESULT),
            location=step.destination,
            writes=multiplier.b_write & ~multiplier.b_quotient & ~step.suppress_write,
            copies=step.copies,
            b_left=Detour(when=reads_pair, block=left, writes=Const(0)),
            b_right=Detour(
                when=reads_pair | quotient,
                block=Mux(reads_pair, right, blocks.of(Core.QUOTIENT)),
                writes=quotient,
            ),
            window=step.window,
            entry=step.entry,
            third=step.third,
            takes_part={
                "a_right": reads_right,
                "b_left": Const(1),
                "b_right": reads_right & reads_pair & ~step.scans,
            },
        )
