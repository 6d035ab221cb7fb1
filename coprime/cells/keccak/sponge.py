"""What the sponges of all speeds have in common: ports, and the order of passes.

Source: FIPS 202, algorithm 8 (SPONGE). What differs: a block is added in the last round of the
permutation before it, and the first one in a pass of its own to a state of zeros, for which chi is
zero. With the last round of the last block that is wanted the state becomes zero again.
"""

from amaranth.hdl import Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from coprime.model.keccak import LANE_BITS, LARGEST_RATE

from .round_constants import RoundConstants


def block_words(width: int) -> int:
    """Words of `width` bits that fill a block: 21 lanes, the largest rate."""
    return LARGEST_RATE * LANE_BITS // width


def message_word(width: int) -> data.StructLayout:
    """A word of padded blocks; `last`, with the last word of a block: the message ends with it."""
    return data.StructLayout({"word": width, "last": 1})


class SpongeSignature(wiring.Signature):
    """Ports of a sponge of words of `width` bits, each in so many shares one after the other.

    Members
    -------
    message (in): blocks of always 21 lanes, the least significant word of the first lane first;
        lanes from the rate on are 0. `last` of a block's last word is looked at.
    filled (out): words of the block that were taken
    squeezed, valid, take (out, out, in): the next word of the state's first 21 lanes, block by
        block; it is taken where `valid` and `take` are 1. `valid` may fall before that.
    drained (out): words of the block that were taken
    discard (1 bit, in): no word of this block is wanted after `squeezed`, if that is taken; it is 1
        at the last of the 21 lanes' words, if not before
    wanted (1 bit, in): the next block may be captured, and `more` is valid; it stays 1 until
        `captures` is
    more (1 bit, in): another block of the same message is wanted after the next one
    captures (1 bit, out): from this cycle on a block is captured, as `more` says
    wipe (1 bit, in): forget everything that was taken and computed: the message, the state, the
        blocks, also those of which there was some word
    wiping (1 bit, out): this is under way, as it is after a reset; no word is taken or output
    computes (1 bit, out): a pass over the state is under way, and not that of a wipe
    """

    def __init__(self, width: int, shares: int = 1):
        position = range(block_words(width))
        super().__init__(
            {
                "message": In(stream.Signature(message_word(shares * width))),
                "filled": Out(position),
                "squeezed": Out(shares * width),
                "drained": Out(position),
                **dict.fromkeys(("take", "discard", "wanted", "more", "wipe"), In(1)),
                **dict.fromkeys(("valid", "captures", "wiping", "computes"), Out(1)),
            }
        )


class PassOrder(wiring.Component):
    """What the next pass does, and when it may begin.

    Parameters
    ----------
    blocks (int): buffers that a wipe fills with zeros

    Members
    -------
    full, ends (in): there is a block, and it is the message's last
    room (in): a block can be captured
    more (in): another one is wanted after it
    may_begin (out): a pass may begin
    begins (in): it does
    add, capture, clear (out): it adds a block; it captures the state; it leaves zeros as the state
    finish, cleared (in): this is a pass's last cycle, and it left zeros as the state
    ended (out): the message's last block was added, and its last output is not captured
    wipe, wiping, wiped (out): as in SpongeSignature; passes that were made for it
    constant (7 bits, out): bits of this round's constant
    """

    def __init__(self, blocks: int):
        self.blocks = blocks
        self.constants = RoundConstants()
        inputs = ("full", "ends", "room", "more", "begins", "finish", "cleared", "wipe")
        outputs = ("may_begin", "add", "capture", "clear", "ended", "wiping")
        super().__init__(
            {
                **dict.fromkeys(inputs, In(1)),
                **dict.fromkeys(outputs, Out(1)),
                "wiped": Out(range(blocks + 1)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Absorb, then squeeze; a wipe's passes clear, capture zeros, and capture zeros again."""
        m = Module()
        m.submodules.constants = constants = self.constants
        wiping = Signal(init=1)
        needs_block, needs_room = Signal(), Signal()
        m.d.comb += [
            self.wiping.eq(wiping),
            needs_block.eq(constants.none | (constants.last & ~self.ended)),
            needs_room.eq(constants.last & self.ended),
            self.may_begin.eq(wiping | ~((needs_block & ~self.full) | (needs_room & ~self.room))),
            self.add.eq(needs_block & ~wiping),
            self.capture.eq(needs_room | wiping),
            self.clear.eq(wiping | (needs_room & ~self.more)),
            constants.clear.eq(self.finish & self.cleared),
            constants.restart.eq(self.finish & ~self.cleared & (constants.none | constants.last)),
            constants.advance.eq(self.finish),
        ]
        with m.If(self.begins & self.add):
            m.d.sync += self.ended.eq(self.ends)
        with m.If(self.finish & self.cleared):
            m.d.sync += self.ended.eq(0)
            with m.If(wiping):
                m.d.sync += self.wiped.eq(self.wiped + 1)
                with m.If(self.wiped == self.blocks):
                    m.d.sync += [wiping.eq(0), self.wiped.eq(0)]
        with m.If(self.wipe):
            m.d.sync += [wiping.eq(1), self.wiped.eq(0)]
        return m
