"""Detects changes of what an engine is given beside its operands: lengths, counts, the command."""

from amaranth.hdl import Cat, Elaboratable, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from .contract import Capabilities, PerLength


def check_bits(word: Value) -> Value:
    """What changes with any one or two bits of the word: a Hamming code's check bits.

    Each bit of the word has a number of its own, not 0; check bit k is the parity of those whose
    number has bit k. Numbers with few ones come first, so that each parity has few bits.
    """
    numbers = range(1, 1 << (bits_for(len(word)) + 1))
    chosen = sorted(numbers, key=int.bit_count)[: len(word)]
    return Cat(
        Cat(bit for bit, number in zip(word, chosen, strict=True) if number >> k & 1).xor()
        for k in range(max(chosen).bit_length())
    )


class Seal(wiring.Component):
    """Detects a bit of the lengths or of the command that changed after it was written.

    An engine that is checked trusts them, and so does the reader of its result: a bit of them that
    flips would go unseen. From when they are written the parity of the lengths is kept, a copy of
    the command, and of the counts what `check_bits` gives: checks of results use the counts, too,
    and passed where two bits of them had flipped.

    Parameters
    ----------
    capabilities: those of the engine
    length_bits (int): of each length

    Members
    -------
    lengths, counts: as the engine's
    writes: they change; the new ones are there in the next cycle
    begins, begun: a command begins, and it is this one
    command: the command under way
    intact: of lengths and counts, a cycle ago
    same_command: of the command, a cycle ago
    """

    def __init__(self, capabilities: Capabilities, length_bits: int):
        ports = {
            "lengths": In(PerLength(length_bits)),
            "counts": In(PerLength(capabilities.count_bits)),
            **dict.fromkeys(("writes", "begins"), In(1)),
            **dict.fromkeys(("begun", "command"), In(capabilities.command_bits)),
            **dict.fromkeys(("intact", "same_command"), Out(1)),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Elaboratable:
        """Describe the circuit."""
        m = Module()
        found = Cat(Value.cast(self.lengths).xor(), check_bits(Value.cast(self.counts)))
        written, kept, of_command = Signal(), Signal(len(found)), Signal(len(self.command))
        m.d.sync += written.eq(self.writes)
        with m.If(written):
            m.d.sync += kept.eq(found)
        with m.If(self.begins):
            m.d.sync += of_command.eq(self.begun)
        m.d.sync += [
            self.intact.eq(found == kept),
            self.same_command.eq(self.command == of_command),
        ]
        return m
