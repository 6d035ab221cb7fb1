"""The program memory: the steps of a lane's program, and which of them is fetched."""

from collections.abc import Mapping

from amaranth.hdl import Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from coprime.cells.tables import place_table
from coprime.cells.target import Target
from coprime.program.assembler import Program
from coprime.program.operands import Reference
from coprime.program.steps import Next, Step

__all__ = ["ProgramCounter", "ProgramMemory"]


def step_layout(program: Program, numbers: Mapping[Reference, int]) -> data.StructLayout:
    """A step as it lies in the program memory; `numbers` are those of its operands."""
    reference = bits_for(max(numbers.values()))
    return data.StructLayout(
        {
            "kind": bits_for(max(program.kinds)),
            "next": bits_for(max(Next.NEXT_BIT, *program.nexts)),
            "destination": reference,
            "x": reference,
            "y": reference,
            "modulus": 2,
            "outer": 2,
            "conditional": int(any(step.conditional for step in program.steps)),
            "target": bits_for(len(program.steps)),
            **({"descale": 1} if program.descales else {}),
            **({"even_exponent": 1} if program.evens_exponents else {}),
        }
    )


class ProgramMemory(wiring.Component):
    """A table of LUTs with a step at each address, and the address of the one to be fetched.

    Parameters
    ----------
    program : Program
    numbers : mapping of Reference to int
        What the fields `x`, `y` and `destination` have for an operand.
    command_bits : int
        Width of a command's code.
    target : Target
        With XC7 the table is of explicit LUTs.

    Members
    -------
    begins, command : go to the command's first step, if there is one
    jump, target : go to the address `target`
    forward : else go to the following address
    fetched : the step at the address
    """

    def __init__(
        self,
        program: Program,
        numbers: Mapping[Reference, int],
        command_bits: int,
        target: Target,
    ):
        self.program = program
        self.numbers = numbers
        self.target_cells = target
        self.layout = step_layout(program, numbers)
        super().__init__(
            {
                "begins": In(1),
                "command": In(command_bits),
                "jump": In(1),
                "target": In(self.layout["target"].shape),
                "forward": In(1),
                "fetched": Out(self.layout),
            }
        )

    def word(self, step: Step, target: int) -> data.Const:
        """The step as it lies in the memory, with the address of its target."""
        references = {name: self.numbers[getattr(step, name)] for name in ("destination", "x", "y")}
        others = {
            name: getattr(step, name)
            for name, _ in self.layout
            if name not in ("target", *references)
        }
        return self.layout.const({**others, **references, "target": target})

    def elaborate(self, platform: object) -> Module:
        """The table, and the counter that addresses it."""
        m = Module()
        program = self.program
        steps = zip(program.steps, program.targets, strict=True)
        words = [self.layout.const({}), *(self.word(step, target) for step, target in steps)]
        pc = Signal(range(len(words)))
        table = [word.as_bits() for word in words]
        fetched = place_table(m, table, pc, self.layout.size, self.target_cells)
        m.d.comb += self.fetched.as_value().eq(fetched)
        with m.If(self.jump):
            m.d.sync += pc.eq(self.target)
        with m.Elif(self.forward):
            m.d.sync += pc.eq(pc + 1)
        with m.If(self.begins), m.Switch(self.command):
            for command, entry in program.entries.items():
                with m.Case(command):
                    m.d.sync += pc.eq(entry)
        return m


class ProgramCounter:
    """What the program memory does, on integers: the address of the step, 0 at the end."""

    def __init__(self, program: Program, command: int):
        self.program = program
        self.address = program.entries[command]

    @property
    def step(self) -> Step:
        """The step at the address."""
        return self.program.steps[self.address - 1]

    def move(self, *, jump: int, forward: int) -> None:
        """To the target, the following step, or nowhere."""
        if jump:
            self.address = self.program.targets[self.address - 1]
        elif forward:
            self.address += 1
