"""SHA-256, one round a cycle.

Source: FIPS 180-4, "Secure Hash Standard" (2015), section 6.2, with the padding of section 5.1.1.
The eight words of H stand in a ring, as do a to h in rounds, so that one adder adds them word by
word, and the digest leaves in the same cycles.
"""

from itertools import pairwise

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.tables import look_up
from coprime.model import sha256

__all__ = ["Sha256"]

WORD_BITS = 32
WORDS = sha256.DIGEST_BYTES * 8 // WORD_BITS


class Sha256(wiring.Component):
    """The digest of a message that comes byte by byte.

    A message begins with `start`; then its bytes are taken, one a cycle, but for BLOCK_CYCLES
    behind each 64; then `finish` adds padding, and the digest's words leave one a cycle, the least
    significant first, as the last block ends. Cycles depend on the message's length only. H, a to h
    and the words of the last block stay in the registers until others take their place.

    Parameters
    ----------
    count_bits : int
        The longest message has 2**count_bits - 1 bytes; 1 to 61.

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
    """From the last byte of a block to the next byte: the rounds that no new byte feeds, two to
    empty the pipeline, the sums."""
    START_CYCLES = WORDS
    """From `start` to the first byte."""

    def __init__(self, count_bits: int = 16):
        if not isinstance(count_bits, int):
            raise TypeError(f"count_bits must be an integer, not {count_bits!r}")
        if not 1 <= count_bits <= 61:
            raise ValueError(f"count_bits must be 1 to 61, not {count_bits}")
        self.count_bits = count_bits
        super().__init__(
            {
                "start": In(1),
                "byte": In(8),
                "valid": In(1),
                "ready": Out(1),
                "finish": In(1),
                "busy": Out(1),
                "done": Out(1),
                "digest_word": Out(WORD_BITS),
                "digest_index": Out(range(WORDS)),
                "digest_write": Out(1),
            }
        )

    @classmethod
    def cycles(cls, length: int) -> int:
        """Busy cycles of a message of `length` bytes if each byte is there at once."""
        blocks = sha256.blocks(length)
        return cls.START_CYCLES + 1 + blocks * (sha256.BLOCK_BYTES + cls.BLOCK_CYCLES)

    def elaborate(self, platform: object) -> Module:
        """Message schedule, rounds, sums, and the padding that ends a message."""
        m = Module()

        # Bytes become words, words the schedule. The newest word is the last of `words`.
        position = Signal(6)  # of the next byte in its block
        count = Signal(self.count_bits)  # bytes of the message
        gathered = Signal(24)
        taken = Signal(8)  # the byte that enters
        takes = Signal()
        words = [Signal(WORD_BITS, name=f"word_{k}", reset_less=True) for k in range(16)]
        generated = _schedule(words)
        generates = Signal()
        enters = Signal()
        entered, summed = Signal(), Signal()
        index = Signal(6)  # of the word that enters next
        m.d.comb += enters.eq(generates | (takes & position[:2].all()))
        m.d.sync += [entered.eq(enters), summed.eq(entered)]
        with m.If(takes):
            m.d.sync += [position.eq(position + 1), gathered.eq(Cat(taken, gathered))]
        with m.If(enters):
            m.d.sync += [
                *(old.eq(new) for old, new in pairwise(words)),
                words[-1].eq(Mux(generates, generated, Cat(taken, gathered))),
                index.eq(index + 1),
            ]

        # A round, two cycles after its word has entered. Its h is known a cycle before and added
        # then, which takes an adder from the longest way.
        constant = Signal(WORD_BITS, reset_less=True)
        word_sum = Signal(WORD_BITS, reset_less=True)
        moves = Signal()
        state = [Signal(WORD_BITS, name=name, reset_less=True) for name in "abcdefgh"]
        hashed = [Signal(WORD_BITS, name=f"hash_{k}", reset_less=True) for k in range(WORDS)]
        a, b, c, d, e, f, g, h = state
        m.d.sync += [
            constant.eq(look_up(sha256.ROUND_CONSTANTS, index, WORD_BITS)),
            word_sum.eq(words[-1] + constant + Mux(moves, g, h)),
        ]
        first, entering = Signal(WORD_BITS), Signal(WORD_BITS)
        big_0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22)
        big_1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25)
        m.d.comb += [
            first.eq(big_1 + (g ^ (e & (f ^ g))) + word_sum),
            entering.eq(first + big_0 + ((a & b) | (c & (a | b)))),
        ]

        # The sums of a block's end, and the first H, word by word from the last one on.
        sums, starts = Signal(), Signal()
        place = Signal(range(WORDS))
        total = Signal(WORD_BITS)
        initial = look_up(tuple(reversed(sha256.INITIAL)), place, WORD_BITS)
        m.d.comb += [
            total.eq(Mux(starts, initial, hashed[-1] + h)),
            moves.eq(summed | sums | starts),
        ]
        with m.If(moves):
            m.d.sync += [
                *(new.eq(old) for old, new in pairwise(state)),
                a.eq(Mux(summed, entering, total)),
                e.eq(d + Mux(summed, first, 0)),
            ]
        with m.If(sums | starts):
            m.d.sync += [
                *(new.eq(old) for old, new in pairwise(hashed)),
                hashed[0].eq(total),
                place.eq(place + 1),
            ]

        # The padding: a byte that begins with a 1, zeros, and the count of bits in eight bytes.
        pads = Signal()
        padding = Signal()  # it has begun
        marks = Signal()  # the byte with the 1 comes next
        last = Signal()  # the padding ends in this block
        length = Cat(Const(0, 3), count, Const(0, 61 - self.count_bits))
        m.d.comb += taken.eq(self.byte)
        with m.If(pads):
            m.d.comb += taken.eq(
                Mux(
                    marks,
                    0x80,
                    Mux(last & position[3:].all(), length.word_select(~position[:3], 8), 0),
                )
            )
        m.d.comb += [
            takes.eq(pads | (self.ready & self.valid)),
            self.busy.eq(1),
            self.digest_word.eq(total),
            self.digest_index.eq(place),
            self.digest_write.eq(sums & last),
        ]
        ends_block = takes & position.all()
        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += self.busy.eq(0)
                with m.If(self.start):
                    m.d.sync += [position.eq(0), count.eq(0), last.eq(0), padding.eq(0)]
                    m.next = "START"
            with m.State("START"):
                m.d.comb += starts.eq(1)
                with m.If(place.all()):
                    m.next = "TAKE"
            with m.State("TAKE"):
                m.d.comb += self.ready.eq(1)
                with m.If(self.valid):
                    m.d.sync += count.eq(count + 1)
                    with m.If(ends_block):
                        m.next = "ROUNDS"
                with m.Elif(self.finish):
                    # The length has room if the byte with the 1 is not among the last eight.
                    m.d.sync += [
                        padding.eq(1),
                        marks.eq(1),
                        last.eq(~position[3:].all()),
                    ]
                    m.next = "PAD"
            with m.State("PAD"):
                m.d.comb += pads.eq(1)
                m.d.sync += marks.eq(0)
                with m.If(ends_block):
                    m.next = "ROUNDS"
            with m.State("ROUNDS"):
                m.d.comb += generates.eq(1)
                with m.If(index.all()):
                    m.next = "EMPTY"
            with m.State("EMPTY"), m.If(~entered):
                m.next = "SUMS"
            with m.State("SUMS"):
                m.d.comb += sums.eq(1)
                with m.If(place.all()):
                    with m.If(last):
                        m.d.comb += self.done.eq(1)
                        m.next = "IDLE"
                    with m.Elif(padding):
                        m.d.sync += last.eq(1)
                        m.next = "PAD"
                    with m.Else():
                        m.next = "TAKE"
        return m


def _schedule(words: list[Signal]) -> Value:
    """The word behind the 16 words, the oldest first."""
    w15, w2 = words[1], words[14]
    small_0 = w15.rotate_right(7) ^ w15.rotate_right(18) ^ (w15 >> 3)
    small_1 = w2.rotate_right(17) ^ w2.rotate_right(19) ^ (w2 >> 10)
    return words[0] + small_0 + words[9] + small_1
