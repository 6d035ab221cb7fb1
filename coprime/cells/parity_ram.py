"""A block RAM that sees a word in which one bit has changed since it was written."""

from amaranth.hdl import Cat, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from .block_ram import BlockRam
from .target import Target
from .wires import same_named

_LUT_INPUTS = 6


class ParityRam(wiring.Component):
    """A `BlockRam` whose words have one more bit, their parity.

    A word of 17 bits fills the 18 that block RAM has anyway. What is read while port B writes may
    be undefined, and is not looked at.

    Parameters
    ----------
    width, depth (int): bits of a word without its parity; number of words
    streams (bool): port A reads words while port B writes others: then they are looked at, too
    parities (bool): the parity comes with a word, from where it is known earlier
    late (bool): a word that is read is taken into a register, and looked at in the next cycle

    Members
    -------
    a_address, a_data, b_address, b_data, b_write, b_write_data : as of `BlockRam`
    b_write_parity (1 bit, in): of `b_write_data`; only with `parities`
    wrong (1 bit, out): a word that was read through either port has another parity than it was
        written with; a cycle after its data, or two if that is late
    """

    def __init__(
        self,
        width: int,
        depth: int,
        *,
        streams: bool = False,
        parities: bool = False,
        late: bool = False,
        target: Target = Target.GENERIC,
    ):
        self.memory = BlockRam(width + 1, depth, target=target)
        self.width, self.depth, self.streams, self.parities = width, depth, streams, parities
        self.late = late
        address = bits_for(depth - 1)
        ports = {
            **dict.fromkeys(("a_address", "b_address"), In(address)),
            **dict.fromkeys(("a_data", "b_data"), Out(width)),
            "b_write": In(1),
            "b_write_data": In(width),
            **({"b_write_parity": In(1)} if parities else {}),
            "wrong": Out(1),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """The parity is even, so that memory begins, and is wiped, with words that are right."""
        m = Module()
        m.submodules.memory = memory = self.memory
        data = self.b_write_data
        m.d.comb += [
            *same_named(memory, self, "a_address", "b_address", "b_write"),
            memory.b_write_data.eq(Cat(data, self.b_write_parity if self.parities else data.xor())),
        ]
        is_read, was_read = Signal(), Signal()
        m.d.sync += [is_read.eq(~self.b_write), was_read.eq(is_read)]
        odd = []
        for name, word, found in (
            ("a_data", memory.a_data, self.a_data),
            ("b_data", memory.b_data, self.b_data),
        ):
            m.d.comb += found.eq(word[:-1])
            # A block RAM's output comes late in the cycle: one LUT, and then a register.
            parts = lut_parities(self._taken(m, name, word))
            parities = Signal(len(parts), name=f"{name}_parities")
            m.d.sync += parities.eq(parts)
            odd.append(parities.xor())
        wrong = self._taken(m, "was_read", was_read) & (odd[0] | odd[1])
        if self.streams:
            is_other, was_other = Signal(), Signal()
            differs = self.a_address != self.b_address
            m.d.sync += [is_other.eq(differs), was_other.eq(is_other)]
            wrong |= self._taken(m, "was_other", was_other) & odd[0]
        m.d.comb += self.wrong.eq(wrong)
        return m

    def _taken(self, m: Module, name: str, value: Value) -> Value:
        """The value, or, if that is `late`, as it was a cycle ago."""
        if not self.late:
            return value
        taken = Signal.like(value, name=f"{name}_taken")
        m.d.sync += taken.eq(value)
        return taken


def lut_parities(word: Value) -> Value:
    """Parities of parts of a word, of which each is one LUT."""
    return Cat(word[k : k + _LUT_INPUTS].xor() for k in range(0, len(word), _LUT_INPUTS))
