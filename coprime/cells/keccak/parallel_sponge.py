"""A sponge that computes a round of Keccak-f[1600] a cycle, in registers.

Source: FIPS 202; the model is `../../model/keccak.py`. A block is added in the last round of the
permutation before it, or to a state of zeros in a cycle of its own.
"""

from itertools import pairwise

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import connect, flipped

from coprime.cells.target import Target
from coprime.cells.wires import same_named
from coprime.model.keccak import LANE_BITS, LANES, LARGEST_RATE, ROTATIONS, moved

from .round_logic import add_parities, chi_and_block, parities, select_words, signals
from .sponge import PassOrder, SpongeSignature
from .traffic import Traffic


class ParallelSponge(wiring.Component):
    """A sponge with a cycle a round. Ports: SpongeSignature, with words of 64 bits.

    With two blocks, 1344 registers more, the next message enters while the output leaves.

    Parameters
    ----------
    blocks (int): 1 or 2 buffers of 21 lanes
    target (Target): LUTs are placed on xc7

    Raises ValueError for another number.
    """

    def __init__(self, blocks: int = 2, target: Target = Target.GENERIC):
        if blocks not in (1, 2):
            raise ValueError(f"blocks must be 1 or 2, not {blocks!r}")
        self.blocks, self.target = blocks, Target(target)
        super().__init__(SpongeSignature(LANE_BITS))

    def elaborate(self, platform: object) -> Module:
        """Rounds; lanes of the message and of the output shift from lane to lane."""
        m = Module()
        # A block shifts out of its registers: only what it is captured in has to be cleared.
        m.submodules.order = order = PassOrder(1)
        m.submodules.traffic = traffic = Traffic(LANE_BITS, shared=self.blocks == 1)
        connect(m, flipped(self.message), traffic.message)
        m.d.comb += [
            *same_named(self, traffic, "filled", "valid", "drained"),
            *same_named(traffic, self, "take", "discard"),
            *same_named(order, traffic, "full", "ends"),
            *same_named(order, self, "more", "wipe"),
            *same_named(traffic, order, "ended", "wiping"),
            *same_named(traffic, self, "captures"),
            traffic.may_fill.eq(1),
            traffic.may_drain.eq(1),
            traffic.added.eq(order.begins & order.add),
            order.room.eq(self.wanted & ~traffic.held),
            order.begins.eq(order.may_begin),
            order.finish.eq(order.begins),
            order.cleared.eq(order.clear),
            self.wiping.eq(order.wiping),
            self.captures.eq(order.begins & order.capture & ~order.wiping),
            self.computes.eq(order.begins & ~order.wiping),
        ]

        state = signals(LANE_BITS, "state")
        output = signals(LANE_BITS, "squeezed", LARGEST_RATE)
        block = signals(LANE_BITS, "block", LARGEST_RATE) if self.blocks == 2 else output
        columns = parities(m, state, self.target)
        shifted = [column.rotate_left(1) for column in columns]
        summed = add_parities(m, state, columns, shifted, self.target)
        rotated = {moved(k): summed[k].rotate_left(ROTATIONS[k]) for k in range(LANES)}
        constant = order.constants.word(LANE_BITS, Cat())
        mixed = chi_and_block(
            *(m, [rotated[k] for k in range(LANES)], dict(enumerate(block))),
            *(order.add, constant, self.target),
        )
        with m.If(order.begins):
            m.d.sync += [lane.eq(new) for lane, new in zip(state, mixed, strict=True)]
            with m.If(order.clear):
                m.d.sync += [lane.eq(0) for lane in state]

        captures = Signal()
        m.d.comb += captures.eq(order.begins & order.capture)
        entering = self.message.payload.word
        next_lanes = [*output[1:], entering]
        moves = traffic.leaving
        if self.blocks == 1:
            moves |= traffic.entering
        else:
            with m.If(traffic.entering):
                m.d.sync += [lane.eq(later) for lane, later in pairwise([*block, entering])]
            with m.If(order.wiping):
                m.d.sync += [lane.eq(0) for lane in block]
        new = select_words(m, captures, mixed[:LARGEST_RATE], next_lanes, self.target)
        with m.If(captures | moves):
            m.d.sync += [lane.eq(word) for lane, word in zip(output, new, strict=True)]
        m.d.comb += self.squeezed.eq(output[0])
        return m
