"""SHA3-224 to SHA3-512, SHAKE128 and SHAKE256 of messages and outputs of any length.

Source: FIPS 202, section 6. Cycles: `SpongeCycles.hash` for a message alone, `HashUnitTwin` for any
order of words on the three streams.
"""

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from coprime.cells.target import Target
from coprime.cells.wires import same_named
from coprime.model.masked.keccak import ROW_BITS
from coprime.parameters import check_ranges

from .fresh_bits import FreshBits
from .masked_sponge import MaskedSponge
from .output_words import OutputWords
from .parallel_sponge import ParallelSponge
from .sliced_sponge import SLICES, SlicedSponge
from .sponge_padding import BUS_BITS, BUS_WORD, FUNCTION, SpongePadding
from .whole_words import WholeOutputWords


def make_sponge(
    slices: int, blocks: int = 2, target: Target = Target.GENERIC, *, masked: bool = False
) -> SlicedSponge | ParallelSponge | MaskedSponge:
    """The sponge that computes so many slices a cycle: 4, 8, 16, 32 or, not `masked`, 64.

    Raises ValueError for another number, or other `blocks` than 1 or 2.
    """
    if masked:
        return MaskedSponge(slices, blocks, target)
    if slices in SLICES:
        return SlicedSponge(slices, blocks, target)
    if slices == 64:
        return ParallelSponge(blocks, target)
    known = ", ".join(map(str, (*SLICES, 64)))
    raise ValueError(f"slices must be one of {known}, not {slices!r}")


def command_layout(length_bits: int) -> data.StructLayout:
    """A function, by its place in FUNCTIONS, and the length of the output, at least 1, in bytes, or
    in words of 32 bits."""
    return data.StructLayout({"function": FUNCTION, "length": length_bits})


class HashUnit(wiring.Component):
    """Hashes messages in the order of their commands.

    Commands, messages and outputs are streams of their own: with two blocks a command and its
    message are taken while the output before is squeezed, and the one of the message between is
    computed.

    Parameters
    ----------
    slices (int): of the state in a cycle: 4, 8, 16, 32 or 64
    blocks (int): 1 or 2 buffers of a block
    length_bits (int): the longest output has 2**length_bits - 1 bytes, 11 to 32; or so many words,
        8 to 32
    target (Target): LUTs are placed on xc7
    whole_outputs (bool): outputs are whole words, which takes less logic: lengths count these
    masked (bool): the sponge computes in two shares. Words of a message get masks as they enter it,
        and those of an output are complete again as they leave it. Until the masks have a seed, no
        word enters

    Members
    -------
    command (in): `command_layout`
    message (in), output (out): words of 32 bits with a count of bytes, `BUS_WORD`
    wipe (1 bit, in): forget messages, outputs and state, and all commands that were taken
    wiping (1 bit, out): this is under way, as it is after a reset; nothing is taken or output
    computes (1 bit, out): as of a sponge
    reseed (1 bit, in), random (in), seeded (1 bit, out): if it is masked, as of FreshBits

    Raises TypeError or ValueError for other parameters.
    """

    def __init__(
        self,
        slices: int,
        blocks: int = 2,
        length_bits: int = 16,
        target: Target = Target.GENERIC,
        *,
        whole_outputs: bool = False,
        masked: bool = False,
    ):
        check_ranges(length_bits=(length_bits, range(8 if whole_outputs else 11, 33)))
        self.whole_outputs = whole_outputs
        self.sponge = make_sponge(slices, blocks, target, masked=masked)
        self.slices, self.length_bits, self.masked = slices, length_bits, masked
        ports = {"reseed": In(1), "random": In(stream.Signature(8)), "seeded": Out(1)}
        super().__init__(
            {
                "command": In(stream.Signature(command_layout(length_bits))),
                "message": In(stream.Signature(BUS_WORD)),
                "output": Out(stream.Signature(BUS_WORD)),
                "wipe": In(1),
                **dict.fromkeys(("wiping", "computes"), Out(1)),
                **(ports if masked else {}),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Connect the parts; a command follows its message from part to part."""
        m = Module()
        m.submodules.sponge = sponge = self.sponge
        width = min(max(8, self.slices), BUS_BITS)
        words = (
            WholeOutputWords(self.slices, self.length_bits)
            if self.whole_outputs
            else OutputWords(self.slices, self.length_bits)
        )
        m.submodules.padding = padding = SpongePadding(width, self.sponge.target)
        m.submodules.words = words
        connect(m, flipped(self.message), padding.message)
        connect(m, words.words, flipped(self.output))
        # The command of the message that enters, and of the one that is being computed.
        layout = command_layout(self.length_bits)
        entering, computed = Signal(layout), Signal(layout)
        enters, computes = Signal(), Signal()
        m.d.comb += [
            words.squeezed.eq(self._unmasked(sponge.squeezed)),
            *same_named(words, sponge, "valid", "drained"),
            *same_named(sponge, words, "take", "discard", "wanted", "more"),
            sponge.wipe.eq(self.wipe),
            *same_named(self, sponge, "wiping", "computes"),
            words.wipe.eq(sponge.wiping),
            self.command.ready.eq(~enters & ~sponge.wiping),
            padding.enable.eq(enters),
            padding.function.eq(entering.function),
            words.load.eq(computes & words.idle),
            words.function.eq(computed.function),
            words.length.eq(computed.length),
        ]
        # The last word of a message waits until its command can follow.
        offers = padding.valid & ~(padding.completes & computes)
        mask: Value | None = None
        if self.masked:
            m.submodules.fresh = fresh = FreshBits(ROW_BITS + self.slices)
            connect(m, flipped(self.random), fresh.random)
            m.d.comb += [
                fresh.reseed.eq(self.reseed),
                self.seeded.eq(fresh.ready),
                sponge.fresh.eq(fresh.bits[:ROW_BITS]),
            ]
            offers, mask = offers & fresh.ready, fresh.bits[ROW_BITS:]
        self._join(m, padding, offers, mask)
        with m.If(self.command.ready & self.command.valid):
            m.d.sync += [enters.eq(1), entering.eq(self.command.payload)]
        with m.If(words.load):
            m.d.sync += computes.eq(0)
        with m.If(padding.done):
            m.d.sync += [enters.eq(0), computes.eq(1), computed.eq(entering)]
        with m.If(sponge.wiping):
            m.d.sync += [enters.eq(0), computes.eq(0)]
        return m

    def _unmasked(self, word: Value) -> Value:
        """The sum of a word's shares."""
        return word[: self.slices] ^ word[self.slices :] if self.masked else word

    def _join(self, m: Module, padding: SpongePadding, offers: Value, mask: Value | None) -> None:
        """Words of the padding become the sponge's: as they are, in halves, or two at a time; with
        a mask in two shares."""
        sponge = self.sponge
        message = sponge.message
        per_lane = (64 // self.slices).bit_length() - 1
        place = sponge.filled[:per_lane]
        taken = message.valid & message.ready

        def shares(word: Value) -> Value:
            return word if mask is None else Cat(mask, word ^ mask)

        m.d.comb += [
            message.payload.last.eq(padding.ends),
            padding.lane.eq(sponge.filled[per_lane:]),
        ]
        if self.slices > BUS_BITS:
            low, second = Signal(BUS_BITS), Signal()
            m.d.comb += [
                message.payload.word.eq(Cat(low, padding.word)),
                message.valid.eq(offers & second),
                padding.take.eq(offers & Mux(second, message.ready, ~sponge.wiping)),
                padding.at_end.eq(second),
            ]
            with m.If(padding.take):
                m.d.sync += [low.eq(padding.word), second.eq(~second)]
            with m.If(sponge.wiping):
                m.d.sync += [low.eq(0), second.eq(0)]
        elif self.slices < 8:
            m.d.comb += [
                message.payload.word.eq(shares(padding.word.word_select(place[0], self.slices))),
                message.valid.eq(offers),
                padding.take.eq(taken & place[0]),
                padding.at_end.eq(place[1:].all()),
            ]
        else:
            m.d.comb += [
                message.payload.word.eq(shares(padding.word)),
                message.valid.eq(offers),
                padding.take.eq(taken),
                padding.at_end.eq(place.all()),
            ]
