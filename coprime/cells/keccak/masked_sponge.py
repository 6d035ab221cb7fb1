"""A sponge that computes a few slices of Keccak-f[1600] in two shares a cycle, in LUT RAM.

Source: FIPS 202; the models are `../../model/keccak.py` and `masked/keccak.py`. What differs from
SlicedSponge: chi ends in registers of its own, so that a pass takes a cycle more, and what is
captured is written a cycle later.
"""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from coprime.cells.target import Target
from coprime.model.keccak import LANE_BITS
from coprime.model.masked.keccak import ROW_BITS, SHARES

from .masked_state import MaskedState
from .sliced_sponge import SLICES, BlockAccess, connect_passes
from .sponge import PassOrder, SpongeSignature


class MaskedSponge(wiring.Component):
    """A sponge in two shares with a pass of 64 / slices + 3 cycles a round.

    Ports: SpongeSignature with two shares of each word, share 0 less significant, and `fresh`.
    Words of a message must be in shares of which each alone is random, those after the rate, too.

    Parameters
    ----------
    slices (int): 4, 8, 16 or 32
    blocks (int): 1 or 2 buffers of 21 lanes
    target (Target): LUTs are placed on xc7

    Members
    -------
    fresh (5 bits, in): random, new in every cycle

    Raises ValueError for other numbers.
    """

    def __init__(self, slices: int, blocks: int = 2, target: Target = Target.GENERIC):
        if slices not in SLICES:
            raise ValueError(f"slices must be one of {', '.join(map(str, SLICES))}, not {slices!r}")
        if blocks not in (1, 2):
            raise ValueError(f"blocks must be 1 or 2, not {blocks!r}")
        self.slices, self.blocks, self.target = slices, blocks, Target(target)
        self.words = LANE_BITS // slices
        members = SpongeSignature(slices, SHARES).members
        super().__init__({**members, "fresh": In(ROW_BITS)})

    def elaborate(self, platform: object) -> Module:
        """Passes, and between them the message's and the output's words."""
        m = Module()
        m.submodules.order = order = PassOrder(self.blocks)
        m.submodules.access = access = BlockAccess(self.slices, self.blocks, self.target, SHARES)
        m.submodules.state = state = MaskedState(self.slices, self.target)
        connect_passes(m, self, order, access)

        # A pass has step 0, in which it may wait, to step words + 2.
        step = Signal(range(self.words + 3))
        half, fresh, first, at_end = Signal(), Signal(), Signal(), Signal()
        add, capture, clear, captures = Signal(), Signal(), Signal(), Signal()
        captures_next = Signal()  # so may the next cycle
        m.d.comb += [
            first.eq(step == 0),
            at_end.eq(step == self.words + 2),
            order.begins.eq(first & order.may_begin),
            order.finish.eq(at_end),
            order.cleared.eq(clear),
            self.captures.eq(order.begins & order.capture & ~order.wiping),
            self.computes.eq((order.begins | ~first) & ~order.wiping),
            captures_next.eq(Mux(first, order.capture, capture)),
        ]
        m.d.sync += [fresh.eq(at_end), captures.eq(capture)]
        with m.If(at_end):
            m.d.sync += [step.eq(0), half.eq(~half), add.eq(0), capture.eq(0), clear.eq(0)]
        with m.Elif(order.begins | ~first):
            m.d.sync += step.eq(step + 1)
        with m.If(order.begins):
            m.d.sync += [add.eq(order.add), capture.eq(order.capture), clear.eq(order.clear)]
        constant = order.constants.word(self.slices, state.place)
        m.d.comb += [
            *(state.half.eq(half), state.fresh.eq(fresh), state.add.eq(add), state.clear.eq(clear)),
            # The first word of a pass is right as it comes again after the others.
            state.store.eq((step >= 4) | fresh),
            state.guard.eq(self.fresh),
            state.constant.eq(Cat(constant.get(k, Const(0, 1)) for k in range(self.slices))),
            *(port.eq(word) for port, word in zip(state.block, access.read, strict=True)),
            *(port.eq(word) for port, word in zip(access.captured, state.mixed, strict=True)),
            access.reserve.eq(
                Mux(first, order.begins & (order.add | order.capture), ~at_end & (add | capture))
            ),
            access.reserve_place.eq(state.place + ~captures_next),
            access.reserve_output.eq(Mux(order.wiping, order.wiped[-1], captures_next)),
            # Step 1 has no word yet.
            access.capture.eq(capture & captures),
            access.added.eq(order.begins & order.add),
            access.captures.eq(self.captures),
            access.waits.eq(first & order.add),
        ]
        return m
