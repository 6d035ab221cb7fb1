"""Words of blocks that enter and leave a sponge: how many, and which blocks are complete."""

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .sponge import SpongeSignature, block_words


class BlockCounter(wiring.Component):
    """Which word of a block is next.

    Members
    -------
    take : this one is taken
    restart : a block begins; with `take` the word that is taken is the last one
    position (out): of the next word, 0 to the last one of 21 lanes, after which it is 0 again
    next (out): `position` in the next cycle
    at_end (1 bit, out): `position` is that of the last one
    """

    def __init__(self, width: int):
        self.words = block_words(width)
        super().__init__(
            {
                **dict.fromkeys(("take", "restart"), In(1)),
                **dict.fromkeys(("position", "next"), Out(range(self.words))),
                "at_end": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Count."""
        m = Module()
        m.d.comb += [
            self.at_end.eq(self.position == self.words - 1),
            self.next.eq(self.position + self.take),
        ]
        with m.If(self.restart | (self.take & self.at_end)):
            m.d.comb += self.next.eq(0)
        m.d.sync += self.position.eq(self.next)
        return m


TRAFFIC = ("message", "filled", "valid", "take", "drained", "discard")
"""Members of SpongeSignature that are ports of Traffic."""


class Traffic(wiring.Component):
    """A block of the message and one of the output, word by word.

    Parameters
    ----------
    width (int): bits of a word
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
    filled_next, drained_next (out): `filled` and `drained` in the next cycle
    """

    def __init__(self, width: int, *, shared: bool):
        self.width, self.shared = width, shared
        members = SpongeSignature(width).members
        inputs = ("may_fill", "may_drain", "added", "captures", "ended", "wiping")
        outputs = ("entering", "leaving", "open", "full", "ends", "held")
        position = Out(range(block_words(width)))
        super().__init__(
            {
                **{name: members[name] for name in TRAFFIC},
                **dict.fromkeys(inputs, In(1)),
                **dict.fromkeys(outputs, Out(1)),
                **dict.fromkeys(("filled_next", "drained_next"), position),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Two counters, and a flag for each block."""
        m = Module()
        m.submodules.filling = filling = BlockCounter(self.width)
        m.submodules.draining = draining = BlockCounter(self.width)
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
            self.filled_next.eq(filling.next),
            self.valid.eq(self.held & ~self.wiping & self.may_drain),
            self.leaving.eq(self.valid & self.take),
            draining.take.eq(self.leaving),
            draining.restart.eq(self.wiping | released),
            self.drained.eq(draining.position),
            self.drained_next.eq(draining.next),
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
