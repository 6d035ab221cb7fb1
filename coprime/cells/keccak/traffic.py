"""Words of blocks that enter and leave a sponge: how many, and which blocks are complete."""

from amaranth.hdl import Cat, Const, Module, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.model.keccak import LANE_BITS, LARGEST_RATE

from .sponge import SpongeSignature, block_words


class BlockCounter(wiring.Component):
    """Which word of a block is next.

    Parameters
    ----------
    width (int): bits of a word
    wraps (bool): begin again after the last word of 21 lanes; else `restart` is 1 then

    Members
    -------
    take (1 bit, in): this one is taken
    restart (1 bit, in): a block begins; with `take` the word that is taken is the last one
    position (out): of the next word in the block, 0 to the last one of 21 lanes
    next_place (out): its place in its lane in the next cycle, except after a `restart` elsewhere
        than at the end of a lane
    at_end (1 bit, out): `position` is that of the last one
    """

    def __init__(self, width: int, *, wraps: bool):
        self.words, self.wraps = block_words(width), wraps
        self.place_bits = (LANE_BITS // width).bit_length() - 1
        super().__init__(
            {
                **dict.fromkeys(("take", "restart"), In(1)),
                "position": Out(range(self.words)),
                "next_place": Out(max(1, self.place_bits)),
                "at_end": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Count places of a lane, then lanes. Sums of bits: carry chains would take more LUTs."""
        m = Module()
        place, lane = self.position[: self.place_bits], self.position[self.place_bits :]
        lane_ends: Value = Const(1, 1)
        if self.place_bits:  # a lane is more than one word
            lane_ends = place.all()
            m.d.comb += self.next_place.eq(place ^ (_ones(place) & self.take.replicate(len(place))))
            m.d.sync += place.eq(self.next_place)
        m.d.comb += self.at_end.eq(lane_ends & (lane == LARGEST_RATE - 1))
        with m.If(self.take & lane_ends):
            m.d.sync += lane.eq(lane ^ _ones(lane))
        ends = self.take & self.at_end if self.wraps else Const(0)
        with m.If(self.restart | ends):
            m.d.sync += self.position.eq(0)
        return m


def _ones(bits: Value) -> Value:
    """The bits that change as one is added. (In Verilog `all` of no bits would be 0.)"""
    return Cat(Const(1), *(bits[:k].all() for k in range(1, len(bits))))


TRAFFIC = ("message", "filled", "valid", "take", "drained", "discard")
"""Members of SpongeSignature that are ports of Traffic."""


class Traffic(wiring.Component):
    """A block of the message and one of the output, word by word.

    Parameters
    ----------
    width (int): bits of a word
    shares (int): of each word
    shared (bool): both are the same block: then no word of a message enters from the cycle on in
        which the last block of the one before was added, until the last of its output is released

    Members
    -------
    message, filled, valid, take, drained, discard : as in SpongeSignature
    may_fill, may_drain (in): a word may enter, may leave in this cycle
    added (in): a pass begins that adds the block
    captures (in): a pass begins that captures a block of output
    ended (in): the message's last block was added, and its last output is not captured
    wiping (in): there are no blocks
    entering, leaving (out): a word enters, leaves in this cycle
    open (out): the message's block has room
    full, ends (out): the message's block is complete and not added; it is the message's last
    held (out): a block of output is not released
    filled_next, drained_next (out): the place of the next word in its lane in the next cycle, if a
        word enters, or leaves, then
    """

    def __init__(self, width: int, *, shared: bool, shares: int = 1):
        self.width, self.shared = width, shared
        members = SpongeSignature(width, shares).members
        inputs = ("may_fill", "may_drain", "added", "captures", "ended", "wiping")
        outputs = ("entering", "leaving", "open", "full", "ends", "held")
        place = Out(max(1, (LANE_BITS // width).bit_length() - 1))
        super().__init__(
            {
                **{name: members[name] for name in TRAFFIC},
                **dict.fromkeys(inputs, In(1)),
                **dict.fromkeys(outputs, Out(1)),
                **dict.fromkeys(("filled_next", "drained_next"), place),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Two counters, and a flag for each block."""
        m = Module()
        m.submodules.filling = filling = BlockCounter(self.width, wraps=True)
        m.submodules.draining = draining = BlockCounter(self.width, wraps=False)
        released = draining.take & self.discard
        room = ~self.full & ~self.wiping
        if self.shared:
            room &= ~self.held & ~self.ended
        m.d.comb += [
            self.open.eq(room),
            self.message.ready.eq(self.open & self.may_fill),
            self.entering.eq(self.message.ready & self.message.valid),
            filling.take.eq(self.entering),
            filling.restart.eq(self.wiping),
            self.filled.eq(filling.position),
            self.filled_next.eq(filling.next_place),
            self.valid.eq(self.held & ~self.wiping & self.may_drain),
            self.leaving.eq(self.valid & self.take),
            draining.take.eq(self.leaving),
            draining.restart.eq(self.wiping | released),
            self.drained.eq(draining.position),
            self.drained_next.eq(draining.next_place),
        ]
        with m.If(filling.take & filling.at_end):
            m.d.sync += [self.full.eq(1), self.ends.eq(self.message.payload.last)]
        with m.If(self.added | self.wiping):
            m.d.sync += self.full.eq(0)
        with m.If(self.captures):
            m.d.sync += self.held.eq(1)
        with m.If(released | self.wiping):
            m.d.sync += self.held.eq(0)
        return m
