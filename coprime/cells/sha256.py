"""SHA-256, one round a cycle.

Source: FIPS 180-4, "Secure Hash Standard" (2015), section 6.2, with the padding of section 5.1.1.
What differs: the eight words of H are in a ring, as a to h are in rounds, so that a single adder
adds them word by word, and the digest is output in the same cycles.
"""

import hashlib
from itertools import pairwise

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.tables import look_up
from coprime.cells.wires import same_named
from coprime.model import sha256
from coprime.parameters import check_ranges

WORD_BITS = 32
WORDS = sha256.DIGEST_BYTES * 8 // WORD_BITS


class MessageSchedule(wiring.Component):
    """W_0 to W_63 of a block: 16 words from the message's bytes, the others from the last 16.

    Members
    -------
    byte, take : a byte of the message, the first byte first, and whether it enters
    extend : a computed word enters; not together with `take`
    position : of the next byte in its block
    index : of the word that enters next
    word, entered : the newest word, and whether it entered in the cycle before
    """

    def __init__(self) -> None:
        ports = {
            "byte": In(8),
            **dict.fromkeys(("take", "extend"), In(1)),
            **dict.fromkeys(("position", "index"), Out(6)),
            "word": Out(WORD_BITS),
            "entered": Out(1),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Bytes become words, and words the schedule."""
        m = Module()
        gathered = Signal(24)
        # The newest word is the last.
        words = [Signal(WORD_BITS, name=f"word_{k}", reset_less=True) for k in range(16)]
        enters = Signal()
        m.d.comb += [
            enters.eq(self.extend | (self.take & self.position[:2].all())),
            self.word.eq(words[-1]),
        ]
        m.d.sync += self.entered.eq(enters)
        with m.If(self.take):
            m.d.sync += [self.position.eq(self.position + 1), gathered.eq(Cat(self.byte, gathered))]
        with m.If(enters):
            m.d.sync += [
                *(old.eq(new) for old, new in pairwise(words)),
                words[-1].eq(Mux(self.extend, _next_word(words), Cat(self.byte, gathered))),
                self.index.eq(self.index + 1),
            ]
        return m


def _next_word(words: list[Signal]) -> Value:
    """The word after the 16 words, the oldest first."""
    w15, w2 = words[1], words[14]
    small_0 = w15.rotate_right(7) ^ w15.rotate_right(18) ^ (w15 >> 3)
    small_1 = w2.rotate_right(17) ^ w2.rotate_right(19) ^ (w2 >> 10)
    return words[0] + small_0 + words[9] + small_1


class Compression(wiring.Component):
    """The working variables a to h, and H: a round for each word, then the sums of the block's end.

    A round takes place two cycles after its word has entered the schedule. Its h is known a cycle
    before, and is added then, which removes an adder from the longest path.

    Members
    -------
    word, entered, index : as in MessageSchedule
    start : H becomes the initial one, in WORDS cycles
    add : a to h are added to H, in WORDS cycles after the last round
    total, place : in these cycles word `place` of the new H; word 0 is the least significant
    """

    def __init__(self) -> None:
        ports = {
            "word": In(WORD_BITS),
            "entered": In(1),
            "index": In(6),
            **dict.fromkeys(("start", "add"), In(1)),
            "total": Out(WORD_BITS),
            "place": Out(range(WORDS)),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Round, sums and the first H."""
        m = Module()
        state = [Signal(WORD_BITS, name=name, reset_less=True) for name in "abcdefgh"]
        hashed = [Signal(WORD_BITS, name=f"hash_{k}", reset_less=True) for k in range(WORDS)]
        a, b, c, d, e, f, g, h = state

        # The word with its constant and the h of its round, and what enters a and e.
        constant = Signal(WORD_BITS, reset_less=True)
        word_sum = Signal(WORD_BITS, reset_less=True)
        summed, moves = Signal(), Signal()
        first, entering = Signal(WORD_BITS), Signal(WORD_BITS)
        big_0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22)
        big_1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25)
        m.d.sync += [
            summed.eq(self.entered),
            constant.eq(look_up(sha256.ROUND_CONSTANTS, self.index, WORD_BITS)),
            word_sum.eq(self.word + constant + Mux(moves, g, h)),
        ]
        m.d.comb += [
            moves.eq(summed | self.add | self.start),
            first.eq(big_1 + (g ^ (e & (f ^ g))) + word_sum),
            entering.eq(first + big_0 + ((a & b) | (c & (a | b)))),
        ]

        # The sums and the first H, word by word from the last one on.
        initial = look_up(tuple(reversed(sha256.INITIAL)), self.place, WORD_BITS)
        m.d.comb += self.total.eq(Mux(self.start, initial, hashed[-1] + h))
        with m.If(moves):
            m.d.sync += [
                *(new.eq(old) for old, new in pairwise(state)),
                a.eq(Mux(summed, entering, self.total)),
                e.eq(d + Mux(summed, first, 0)),
            ]
        with m.If(self.add | self.start):
            m.d.sync += [
                *(new.eq(old) for old, new in pairwise(hashed)),
                hashed[0].eq(self.total),
                self.place.eq(self.place + 1),
            ]
        return m


class MessagePadding(wiring.Component):
    """The end of a message: a byte that begins with a 1, zeros, and the length in eight bytes.

    `count_bits` is as in Sha256.

    Members
    -------
    start : begin a message
    count : a byte of the message is taken
    finish : there are no more bytes
    take : a byte of the padding is taken
    next_block : the padding goes on in another block
    position : of the next byte in its block
    byte : the padding's next byte
    begun : the padding has begun
    last : it ends in this block
    """

    def __init__(self, count_bits: int):
        self.count_bits = count_bits
        ports = {
            **dict.fromkeys(("start", "count", "finish", "take", "next_block"), In(1)),
            "position": In(6),
            "byte": Out(8),
            **dict.fromkeys(("begun", "last"), Out(1)),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Count the message's bytes, and select the padding's."""
        m = Module()
        length = Signal(self.count_bits)  # bytes of the message
        marks = Signal()  # the byte with the 1 comes next
        bits = Cat(Const(0, 3), length, Const(0, 61 - self.count_bits))
        ends = self.position[3:].all()  # the last eight bytes of a block
        m.d.comb += self.byte.eq(
            Mux(marks, 0x80, Mux(self.last & ends, bits.word_select(~self.position[:3], 8), 0))
        )
        with m.If(self.start):
            m.d.sync += [length.eq(0), self.last.eq(0), self.begun.eq(0)]
        with m.If(self.count):
            m.d.sync += length.eq(length + 1)
        with m.If(self.finish):
            # The length has room if the byte with the 1 is not among the last eight.
            m.d.sync += [self.begun.eq(1), marks.eq(1), self.last.eq(~ends)]
        with m.If(self.take):
            m.d.sync += marks.eq(0)
        with m.If(self.next_block):
            m.d.sync += self.last.eq(1)
        return m


class Sha256(wiring.Component):
    """The digest of a message that comes byte by byte.

    A message begins with `start`; then its bytes are taken, one a cycle, with a pause of
    BLOCK_CYCLES after each 64; then `finish` adds the padding, and the digest is output in the last
    block's sums, a word a cycle, the least significant first. Cycles depend on the message's length
    only. H, a to h and the words of the last block stay in the registers until they are replaced.

    Parameters
    ----------
    count_bits (int): the longest message has 2**count_bits - 1 bytes; 1 to 61

    Members
    -------
    start : begin a message; only while `busy` is 0
    byte, valid, ready : the message, the first byte first; a byte is taken where both are 1
    finish : there are no more bytes; taken where `ready` is 1 and `valid` is 0
    busy : 1 from the cycle after `start` to the last one, in which `done` is 1
    done : the last word of the digest is there
    digest_word, digest_index, digest_write : word `digest_index` of the digest, where
        `digest_write` is 1; word 0 is the least significant, the digest's last four bytes
    """

    BLOCK_CYCLES = sha256.ROUNDS - 16 + 2 + WORDS
    """From the last byte of a block to the next byte: the rounds of computed words, two to empty
    the pipeline, the sums."""
    START_CYCLES = WORDS
    """From `start` to the first byte."""

    def __init__(self, count_bits: int = 16):
        check_ranges(count_bits=(count_bits, range(1, 62)))
        self.count_bits = count_bits
        ports = {
            "start": In(1),
            "byte": In(8),
            "valid": In(1),
            "ready": Out(1),
            "finish": In(1),
            **dict.fromkeys(("busy", "done"), Out(1)),
            "digest_word": Out(WORD_BITS),
            "digest_index": Out(range(WORDS)),
            "digest_write": Out(1),
        }
        super().__init__(ports)

    @classmethod
    def cycles(cls, length: int) -> int:
        """Busy cycles of a message of `length` bytes if each byte is there at once."""
        blocks = sha256.blocks(length)
        return cls.START_CYCLES + 1 + blocks * (sha256.BLOCK_BYTES + cls.BLOCK_CYCLES)

    def elaborate(self, platform: object) -> Module:
        """Connect the parts, and step through the blocks of a message."""
        m = Module()
        m.submodules.schedule = schedule = MessageSchedule()
        m.submodules.compression = compression = Compression()
        m.submodules.padding = padding = MessagePadding(self.count_bits)
        ends_block = schedule.take & schedule.position.all()
        m.d.comb += [
            schedule.byte.eq(Mux(padding.take, padding.byte, self.byte)),
            schedule.take.eq(padding.take | padding.count),
            *same_named(compression, schedule, "word", "entered", "index"),
            padding.position.eq(schedule.position),
            padding.count.eq(self.ready & self.valid),
            self.busy.eq(1),
            self.digest_word.eq(compression.total),
            self.digest_index.eq(compression.place),
            self.digest_write.eq(compression.add & padding.last),
        ]
        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += self.busy.eq(0)
                with m.If(self.start):
                    m.d.comb += padding.start.eq(1)
                    m.next = "START"
            with m.State("START"):
                m.d.comb += compression.start.eq(1)
                with m.If(compression.place.all()):
                    m.next = "TAKE"
            with m.State("TAKE"):
                m.d.comb += self.ready.eq(1)
                with m.If(ends_block):
                    m.next = "ROUNDS"
                with m.If(self.finish & ~self.valid):
                    m.d.comb += padding.finish.eq(1)
                    m.next = "PAD"
            with m.State("PAD"):
                m.d.comb += padding.take.eq(1)
                with m.If(ends_block):
                    m.next = "ROUNDS"
            with m.State("ROUNDS"):
                m.d.comb += schedule.extend.eq(1)
                with m.If(schedule.index.all()):
                    m.next = "EMPTY"
            with m.State("EMPTY"), m.If(~schedule.entered):
                m.next = "SUMS"
            with m.State("SUMS"):
                m.d.comb += compression.add.eq(1)
                with m.If(compression.place.all()):
                    with m.If(padding.last):
                        m.d.comb += self.done.eq(1)
                        m.next = "IDLE"
                    with m.Elif(padding.begun):
                        m.d.comb += padding.next_block.eq(1)
                        m.next = "PAD"
                    with m.Else():
                        m.next = "TAKE"
        return m


class Sha256Twin:
    """What Sha256 does, in integers: the digest, and in which cycles.

    Attributes
    ----------
    digest : bytes, after `finish`
    """

    digest = b""

    def start(self, cycle: int) -> None:
        """Begin a message with `start` in this cycle."""
        self._message = bytearray()
        self._ready = cycle + 1 + Sha256.START_CYCLES

    def take(self, byte: int, cycle: int) -> int:
        """Offer a byte from a cycle on; in which cycle it is taken."""
        cycle = max(cycle, self._ready)
        self._message.append(byte)
        self._ready = cycle + 1
        if len(self._message) % sha256.BLOCK_BYTES == 0:
            self._ready += Sha256.BLOCK_CYCLES
        return cycle

    def finish(self, cycle: int) -> int:
        """Set `finish` from a cycle on; in which cycle it is `done`."""
        length = len(self._message)
        rest = length % sha256.BLOCK_BYTES
        blocks = sha256.blocks(rest)
        self.digest = hashlib.sha256(self._message).digest()
        padding = sha256.BLOCK_BYTES * blocks - rest
        return max(cycle, self._ready) + padding + blocks * Sha256.BLOCK_CYCLES
