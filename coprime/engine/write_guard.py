"""What keeps X, the key and the inverses from being overwritten."""

from amaranth.hdl import Const, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from coprime.multipliers.delays import past_value
from coprime.program.assembler import Program
from coprime.program.numbers.liveness import WRITES
from coprime.program.operands import Operand
from coprime.program.steps import StepKind

from .layout import BankedLayout


class WriteGuard(wiring.Component):
    """Allows port B of each bank to write only where the running command may write.

    While the engine works, nothing but a wipe writes what an operation reads only: in the left bank
    X and the key, and the inverses, in either. A counter that has missed its last digit would
    overwrite them with the rest. The address itself is looked at, next to the memory.

    Members
    -------
    works : the engine works, and does not wipe
    left_address, right_address : the addresses of both ports, two cycles later
    may_left, may_right : at the same time
    """

    def __init__(self, program: Program, layout: BankedLayout):
        self.program, self.layout = program, layout
        address = bits_for(layout.depth - 1)
        ports = {
            "works": In(1),
            **dict.fromkeys(("left_address", "right_address"), In(address)),
            **dict.fromkeys(("may_left", "may_right"), Out(1)),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Look at both addresses."""
        m = Module()
        locked = past_value(m, "locked", self.works, 2)
        index_bits = len(self.left_address) - self.layout.entry_bits
        may_left = ~locked | self.left_address[index_bits:].matches(*sorted(self.written_left))
        may_right = Const(1)
        if not self.layout.inverses_left:
            # An inverse is the last word of an odd block: all of those that are asked for are 1.
            may_right = ~locked | ~self.right_address[: index_bits + 1].all()
        m.d.comb += [self.may_left.eq(may_left), self.may_right.eq(may_right)]
        return m

    @property
    def written_left(self) -> set[int]:
        """The blocks of the left bank that the program writes; long numbers take two.

        Beside a number of one block there may be one that is read only.
        """
        layout = self.layout
        assert layout.places is not None
        writing = {StepKind.MULTIPLY, StepKind.PREPARE, *WRITES}
        written = {step.destination for step in self.program.steps if step.kind in writing}
        scratch = written & layout.bases.keys() - set(Operand)
        first = {layout.block_of(number) for number in scratch if not layout.lies_right(number)}
        read_only = {
            place.block
            for place, content in layout.places.contents.items()
            if place.bank == 0 and all(isinstance(location, Operand) for location, _ in content)
        }
        return first | {block ^ 1 for block in first} - read_only
