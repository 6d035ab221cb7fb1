"""Blocks from messages of any number of bytes.

Source: FIPS 202, sections 5.1 and 6: domain bits, then pad10*1. As messages are whole bytes, the
domain bits and the first 1 are a byte after the message, and the last 1 is the top bit of the
block's last byte.
"""

import enum

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.luts import choose_word, select_word
from coprime.cells.tables import look_up
from coprime.cells.target import Target
from coprime.model.keccak import FUNCTIONS, LARGEST_RATE

BUS_BITS = 32
BUS_BYTES = BUS_BITS // 8
BUS_WORD = data.StructLayout({"data": BUS_BITS, "bytes": range(BUS_BYTES + 1), "last": 1})
"""A word of a message or an output: the first byte is the least significant; `last` is 1 with the
last word, of which only the first `bytes` bytes count."""
FUNCTION = range(len(FUNCTIONS))
_SUFFIXES = sorted({function.suffix for function in FUNCTIONS})


def rate_of(function: Value) -> Value:
    """The lanes of a function's rate, less 1; its number is its place in FUNCTIONS."""
    width = (LARGEST_RATE - 1).bit_length()
    return look_up([known.rate_lanes - 1 for known in FUNCTIONS], function, width)


class _Phase(enum.Enum):
    MESSAGE = 0
    PAD = 1  # the message ended with a word, and its padding has not begun
    ZEROS = 2  # the padding has begun


class SpongePadding(wiring.Component):
    """The words of a message's blocks, each of 21 lanes.

    Parameters
    ----------
    width (int): bits of a word of a block: 8, 16 or 32
    target (Target): LUTs are placed on xc7

    Members
    -------
    function (in): the message's function, by its place in FUNCTIONS; stable until `done`
    enable (1 bit, in): there is a message
    message (in): its bytes. An empty message is a word with `last` and 0 bytes. `bytes` counts with
        `last` only.
    lane, at_end (in): the lane that the next word belongs to, and whether it is the last word of it
    word, ends, valid, take (out, out, out, in): words of blocks; `ends` is 1 with the last one of
        the message's last block
    completes (1 bit, out): the next word is that one
    done (1 bit, out): it is taken
    """

    def __init__(self, width: int, target: Target = Target.GENERIC):
        self.width, self.target = width, Target(target)
        super().__init__(
            {
                "function": In(FUNCTION),
                "message": In(stream.Signature(BUS_WORD)),
                "lane": In(range(LARGEST_RATE)),
                **dict.fromkeys(("enable", "at_end", "take"), In(1)),
                "word": Out(width),
                **dict.fromkeys(("ends", "valid", "completes", "done"), Out(1)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """A part of a bus word, or the padding."""
        m = Module()
        size = self.width // 8  # bytes of a word
        parts = BUS_BITS // self.width
        part = Signal(range(parts))
        phase = Signal(_Phase)
        bus = self.message.payload
        # The bytes of this part that count, at most `size`, and whether the message ends with it.
        count, ends = Signal(range(size + 1)), Signal()
        begun = part * size if parts > 1 else Const(0)
        m.d.comb += [
            ends.eq(bus.last & (bus.bytes <= begun + size)),
            count.eq(Mux(ends, bus.bytes - begun, size)),
        ]
        at_rate, inside = Signal(), Signal(init=1)  # this lane is the rate's last one, or not after
        block_ends = self.lane == LARGEST_RATE - 1
        takes_message = Signal()
        pads = Signal()  # the padding begins in this word, or has begun
        starts = Signal()  # its first byte is the domain's
        m.d.comb += [
            at_rate.eq(self.lane == rate_of(self.function)),
            takes_message.eq(inside & (phase == _Phase.MESSAGE)),
            starts.eq(inside & (phase == _Phase.PAD)),
            pads.eq(starts | (phase == _Phase.ZEROS) | (takes_message & ends & (count != size))),
            self.valid.eq(self.enable & (~takes_message | self.message.valid)),
        ]
        low, high = (Const(suffix, 8) for suffix in _SUFFIXES)
        is_high = look_up(
            [function.suffix == _SUFFIXES[1] for function in FUNCTIONS], self.function, 1
        )
        suffix = Mux(is_high, high, low)
        words = self._part(m, bus.data, part)
        found = []
        for k in range(size):
            own = words[8 * k : 8 * k + 8]
            first = starts if k == 0 else Const(0)
            found.append(
                Mux(
                    takes_message & (count > k),
                    own,
                    Mux(first | (takes_message & (count == k)), suffix, 0),
                )
            )
        top = Cat(Const(0, 7), pads & self.at_end & at_rate)
        m.d.comb += [
            self.word.eq(Cat(found[:-1], found[-1] | top)),
            self.ends.eq(pads),
            self.completes.eq(pads & self.at_end & block_ends),
            self.done.eq(self.take & self.completes),
            self.message.ready.eq(self.take & takes_message & (ends | (part == parts - 1))),
        ]
        with m.If(self.take & takes_message):
            m.d.sync += part.eq(part + 1)
            with m.If(ends):
                m.d.sync += [
                    part.eq(0),
                    phase.eq(Mux(count == size, _Phase.PAD, _Phase.ZEROS)),
                ]
        with m.If(self.take & starts):
            m.d.sync += phase.eq(_Phase.ZEROS)
        lane_ends = self.take & self.at_end
        with m.If(lane_ends & at_rate):
            m.d.sync += inside.eq(0)
        with m.If((lane_ends & block_ends) | ~self.enable):
            m.d.sync += inside.eq(1)
        with m.If(self.done | ~self.enable):
            m.d.sync += [part.eq(0), phase.eq(_Phase.MESSAGE)]
        return m

    def _part(self, m: Module, word: Value, part: Value) -> Value:
        """A part of a bus word."""
        parts = [word[k : k + self.width] for k in range(0, BUS_BITS, self.width)]
        if len(parts) == 1:
            return word
        if len(parts) == 2:
            return choose_word(m, part, parts[1], parts[0], self.target)
        return select_word(m, parts, part, self.target)
