"""A sponge that computes a few slices of Keccak-f[1600] a cycle, in LUT RAM.

Source: FIPS 202; the model is `../../model/keccak.py`. What differs: theta of a round is computed
as the round before is written, so that a pass over the words of all lanes is rho, pi, chi, iota,
then theta. Theta of the first word needs the parities of the last one: a pass takes two cycles more
than a lane has words, one that fills the registers of rho and one for these parities.
"""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from coprime.cells.target import Target
from coprime.cells.wires import same_named
from coprime.model.keccak import LANE_BITS, LARGEST_RATE

from .block_memory import BlockMemory
from .lane_memory import LaneMemory
from .round_logic import LATE_LANES, add_parities, chi_and_block, parities, signals
from .sponge import PassOrder, SpongeSignature
from .traffic import TRAFFIC, Traffic

SLICES = (4, 8, 16, 32)


class BlockAccess(wiring.Component):
    """The blocks, and who has them in each cycle: a pass, the message or the output.

    A pass has them where it needs them. Else the message goes first where a pass waits for its
    block and there is a word, and the output where no pass waits, unless it did not use its last
    cycle. All of that is decided a cycle before, so that the memory's address is a register.

    Parameters
    ----------
    width, blocks (int): as of SlicedSponge
    shares (int): of each word, as of BlockMemory

    Members
    -------
    message, filled, squeezed, valid, take, drained, discard : as in SpongeSignature
    reserve (in): in the next cycle a pass has the memory
    reserve_place, reserve_output (in): for that cycle the word in each lane, and with two blocks
        whether it is that of the output
    capture (in): in this cycle the captured words are written
    captured, read (21 words, in, out): as of BlockMemory
    waits (in): a pass waits for a block of the message
    added, captures, ended, wiping, full, ends, held : as of Traffic
    """

    def __init__(self, width: int, blocks: int, target: Target, shares: int = 1):
        self.width, self.blocks, self.target = width, blocks, target
        self.words, self.shares = LANE_BITS // width, shares
        members = SpongeSignature(width, shares).members
        own = ("reserve", "reserve_output", "capture", "waits")
        inputs = (*own, "added", "captures", "ended", "wiping")
        super().__init__(
            {
                **{name: members[name] for name in (*TRAFFIC, "squeezed")},
                **dict.fromkeys(inputs, In(1)),
                "reserve_place": In(range(self.words)),
                "captured": In(shares * width).array(LARGEST_RATE),
                "read": Out(shares * width).array(LARGEST_RATE),
                **dict.fromkeys(("full", "ends", "held"), Out(1)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Choose the next cycle's address."""
        m = Module()
        parts = (self.width, self.blocks, self.target, self.shares)
        m.submodules.block = block = BlockMemory(*parts)
        m.submodules.traffic = traffic = Traffic(
            self.width, shared=self.blocks == 1, shares=self.shares
        )
        connect(m, flipped(self.message), traffic.message)
        reserved, drains, drains_next = Signal(), Signal(), Signal()
        entering, leaving = traffic.entering, traffic.leaving
        m.d.comb += [
            *same_named(self, traffic, "filled", "valid", "drained", "full", "ends", "held"),
            *same_named(traffic, self, "take", "discard", "added", "captures", "ended", "wiping"),
            traffic.may_fill.eq(~reserved & ~drains),
            traffic.may_drain.eq(~reserved & drains),
            drains_next.eq(
                self.held
                & (~traffic.open | Mux(self.waits, ~self.message.valid, ~self.valid | leaving))
            ),
            block.entering.eq(self.message.payload.word),
            block.move.eq(entering | leaving),
            block.capture.eq(self.capture),
            self.squeezed.eq(block.read[0]),
            *(port.eq(word) for port, word in zip(block.captured, self.captured, strict=True)),
            *(port.eq(word) for port, word in zip(self.read, block.read, strict=True)),
        ]
        address = Signal.like(block.address)
        place = Mux(drains_next, traffic.drained_next, traffic.filled_next)
        m.d.comb += block.address.eq(address)
        m.d.sync += [
            reserved.eq(self.reserve),
            drains.eq(drains_next),
            address.eq(
                Cat(
                    Mux(self.reserve, self.reserve_place, place),
                    Mux(self.reserve, self.reserve_output, drains_next),
                )
            ),
        ]
        return m


def connect_passes(
    m: Module, sponge: wiring.Component, order: PassOrder, access: BlockAccess
) -> None:
    """Connect the order of passes and the block with the ports of a sponge, shared or not."""
    connect(m, flipped(sponge.message), access.message)
    m.d.comb += [
        *same_named(sponge, access, "filled", "squeezed", "valid", "drained"),
        *same_named(access, sponge, "take", "discard"),
        *same_named(order, access, "full", "ends"),
        *same_named(order, sponge, "more", "wipe"),
        order.room.eq(sponge.wanted & ~access.held),
        *same_named(access, order, "ended", "wiping"),
        sponge.wiping.eq(order.wiping),
    ]


class SlicedSponge(wiring.Component):
    """A sponge with a pass of 64 / slices + 2 cycles a round. Ports: SpongeSignature.

    Words have as many bits as there are slices a cycle. With two blocks the next message is filled
    while the output is squeezed.

    Parameters
    ----------
    slices (int): 4, 8, 16 or 32
    blocks (int): 1 or 2 buffers of 21 lanes
    target (Target): LUTs are placed on xc7

    Raises ValueError for other numbers.
    """

    def __init__(self, slices: int, blocks: int = 2, target: Target = Target.GENERIC):
        if slices not in SLICES:
            raise ValueError(f"slices must be one of {', '.join(map(str, SLICES))}, not {slices!r}")
        if blocks not in (1, 2):
            raise ValueError(f"blocks must be 1 or 2, not {blocks!r}")
        self.slices, self.blocks, self.target = slices, blocks, Target(target)
        self.words = LANE_BITS // slices
        super().__init__(SpongeSignature(slices))

    def elaborate(self, platform: object) -> Module:
        """Passes, and between them the message's and the output's words."""
        m = Module()
        m.submodules.order = order = PassOrder(self.blocks)
        m.submodules.lanes = lanes = LaneMemory(self.slices, self.target)
        m.submodules.access = access = BlockAccess(self.slices, self.blocks, self.target)
        connect_passes(m, self, order, access)

        # A pass has step 0, in which it may wait, to step words + 1.
        step = Signal(range(self.words + 2))
        half, fresh, first, at_end = Signal(), Signal(), Signal(), Signal()
        add, capture, clear = Signal(), Signal(), Signal()
        m.d.comb += [
            first.eq(step == 0),
            at_end.eq(step == self.words + 1),
            order.begins.eq(first & order.may_begin),
            order.finish.eq(at_end),
            order.cleared.eq(clear),
            self.captures.eq(order.begins & order.capture & ~order.wiping),
            self.computes.eq((order.begins | ~first) & ~order.wiping),
        ]
        m.d.sync += fresh.eq(at_end)
        with m.If(at_end):
            m.d.sync += [step.eq(0), half.eq(~half), add.eq(0), capture.eq(0), clear.eq(0)]
        with m.Elif(order.begins | ~first):
            m.d.sync += step.eq(step + 1)
        with m.If(order.begins):
            m.d.sync += [add.eq(order.add), capture.eq(order.capture), clear.eq(order.clear)]
        m.d.comb += [
            access.reserve.eq(
                Mux(first, order.begins & (order.add | order.capture), ~at_end & (add | capture))
            ),
            access.reserve_place.eq(lanes.place + 1),
            access.reserve_output.eq(
                Mux(order.wiping, order.wiped[-1], Mux(first, order.capture, capture))
            ),
            access.capture.eq(capture),
            access.added.eq(order.begins & order.add),
            access.captures.eq(self.captures),
            access.waits.eq(first & order.add),
        ]

        # A word of each lane: rho, pi, chi, iota, the block; a cycle later its row, and theta.
        constant = order.constants.word(self.slices, lanes.place)
        block = {k: word for k, word in enumerate(access.read) if k not in LATE_LANES}
        mixed = chi_and_block(m, list(lanes.moved), block, add, constant, self.target)
        words = signals(self.slices, "mixed")
        late = signals(self.slices, "late", len(LATE_LANES))
        m.d.sync += [
            word.eq(access.read[lane]) for word, lane in zip(late, LATE_LANES, strict=True)
        ]
        with m.If(~add):
            m.d.sync += [word.eq(0) for word in late]
        m.d.comb += [
            lanes.half.eq(half),
            lanes.fresh.eq(fresh),
            *(port.eq(word) for port, word in zip(access.captured, mixed, strict=False)),
        ]
        with m.If(clear):
            m.d.sync += [word.eq(0) for word in words]
        with m.Else():
            m.d.sync += [word.eq(new) for word, new in zip(words, mixed, strict=True)]
        columns = parities(m, words, self.target, late)
        before = [Signal(name=f"before_{x}") for x in range(5)]
        m.d.sync += [old.eq(column[-1]) for old, column in zip(before, columns, strict=True)]
        shifted = [Cat(old, column[:-1]) for old, column in zip(before, columns, strict=True)]
        written = add_parities(m, words, columns, shifted, self.target, late)
        m.d.comb += [port.eq(word) for port, word in zip(lanes.written, written, strict=True)]
        return m
