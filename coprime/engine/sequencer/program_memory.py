"""The program memory: the steps of a lane's program, and which of them is fetched."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from coprime.cells.parity_ram import lut_parities
from coprime.cells.tables import place_table
from coprime.cells.target import Target
from coprime.multipliers.delays import history, past_value
from coprime.program.assembler import Program
from coprime.program.operands import Reference
from coprime.program.steps import Next, Step, StepKind

from .exponent_scanner import ExponentScanner
from .feature import Feature, shown_widths
from .loop_counter import LoopCounter
from .next_rules import Effect
from .step_control import StepControl
from .swaps import SwapsByBit

_OPTIONAL_FIELDS = (
    *("descale", "even_exponent", "times", "shift", "copies", "by_bit", "leaves_two"),
)
"""In a word from its lowest bit on, after the fields that every program has."""


def step_layout(program: Program, numbers: Mapping[Reference, int]) -> data.StructLayout:
    """A step as it lies in the program memory; `numbers` are those of its operands."""
    reference = bits_for(max(numbers.values()))
    optional = {
        **shown_widths(program),
        **ExponentScanner.fields(program),
        **LoopCounter.fields(program),
        **SwapsByBit.fields(program),
    }
    return data.StructLayout(
        {
            "kind": bits_for(max(program.kinds)),
            "next": bits_for(max(Next.NEXT_BIT, *map(program.next_code, program.steps))),
            "destination": reference,
            "x": reference,
            "y": reference,
            "modulus": 2,
            "outer": 2,
            "conditional": int(any(step.conditional for step in program.steps)),
            "target": bits_for(len(program.steps)),
            **{name: optional[name] for name in _OPTIONAL_FIELDS if name in optional},
        }
    )


class ProgramMemory(wiring.Component, Feature):
    """The steps of a program, a word each, and the address of the one to be fetched.

    A short program is a table of LUTs, a long one is in block RAM. The address is a register, and
    so is the word, as block RAM's output comes late in the cycle: a word is there three cycles
    after its address. While a step is under way the address is that of the following one; any other
    step waits for its word. A step that takes two cycles beside FETCH leaves the time for that.
    Words of LUTs are there a cycle earlier, and wait: so both take the same cycles.

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
    again : go to the step under way
    branches : the step that follows takes as long to be there as any other: only with BRANCH, of
        secret bits
    there : the fetched step is the one at the address
    fetched : that step
    taken : it is under way from the next cycle on
    wrong : a cycle after a word was fetched: a bit of it, or of the stack of addresses to return
        to, has changed; only with parity
    calls, returns : a jump to a routine, whose `returns` goes to the following address; only if
        there are routines

    Ports of the sequencer
    ----------------------
    wrong : as the member
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
        self.wrong_return = Signal()
        """A bit of the return stack's last address has changed; 0 without parity."""
        super().__init__(
            {
                "begins": In(1),
                "command": In(command_bits),
                "jump": In(1),
                "target": In(self.layout["target"].shape),
                **dict.fromkeys(("again", "taken"), In(1)),
                "there": Out(1),
                "fetched": Out(self.layout),
            }
            | (dict.fromkeys(("calls", "returns"), In(1)) if program.call_depth else {})
            | ({"branches": In(1)} if StepKind.BRANCH in program.kinds else {})
            | ({"wrong": Out(1)} if program.has_parity else {})
        )

    def ports(self) -> Mapping[str, Any]:
        """That above."""
        return {"wrong": Out(1)} if self.program.has_parity else {}

    def connect(self, m: Module, control: StepControl) -> None:
        """It goes where the rules for the next step say."""
        m.submodules.program_memory = self
        m.d.comb += [
            self.begins.eq(control.begins),
            self.command.eq(control.ports.command),
            self.jump.eq(control.jump),
            self.target.eq(control.step.target),
            self.again.eq(control.again),
        ]
        if self.program.has_parity:
            m.d.comb += control.ports.wrong.eq(self.wrong)
        if self.program.call_depth:
            m.d.comb += [
                self.calls.eq(control.effects[Effect.CALL]),
                self.returns.eq(control.effects[Effect.RETURN]),
            ]

    def word(self, step: Step, target: int) -> data.Const:
        """The step as it lies in the memory, with the address of its target."""
        references = {
            "destination": self.numbers[step.destination],
            "x": self.numbers[step.x],
            "y": self.numbers[step.y],
        }
        others = {
            name: getattr(step, name)
            for name, _ in self.layout
            if name not in ("target", "next", *references)
        }
        others["next"] = self.program.next_code(step)
        return self.layout.const({**others, **references, "target": target})

    def elaborate(self, platform: object) -> Module:
        """The words, and the counter that addresses them."""
        m = Module()
        program = self.program
        steps = zip(program.steps, program.targets, strict=True)
        words = [self.layout.const({}), *(self.word(step, target) for step, target in steps)]
        if len(words) & (len(words) - 1):
            words.append(self.layout.const({}))  # which follows the last step
        pc = Signal(range(len(words)))
        """Address of the step under way; 0 after a jump, until the next one is taken."""
        address = Signal.like(pc)
        # A step that is there has been at the address for a cycle: what follows it is known.
        successor = past_value(m, "successor", (address + 1)[: len(pc)], 1)
        contents = [word.as_bits() for word in words]
        fetched = self.fetched.as_value()
        if program.in_block_ram:
            self._place_memory(m, contents, address)
        else:
            table = place_table(m, contents, address, self.layout.size, self.target_cells)
            m.d.sync += fetched.eq(table)
        self._move(m, address, again=pc)
        moves = [self.begins, self.jump, self.again]
        moves += [getattr(self, name) for name in ("returns", "branches") if hasattr(self, name)]
        read = history(m, "moves", Cat(moves).any(), 1)
        m.d.sync += self.there.eq(~Cat(read).any())
        with m.If(self.jump):
            m.d.sync += pc.eq(0)
        with m.If(self.taken):
            m.d.sync += [pc.eq(address), address.eq(successor)]
        return m

    def _move(self, m: Module, address: Signal, again: Signal) -> None:
        """To a step that does not follow."""
        with m.If(self.jump):
            m.d.sync += address.eq(self.target)
        with m.Elif(self.again):
            m.d.sync += address.eq(again)
        if self.program.call_depth:
            self._link(m, address)
        with m.If(self.begins):
            entries = self.program.entries
            if len(entries) > len(set(entries.values())) == 1:
                m.d.sync += address.eq(min(entries.values()))
            else:
                with m.Switch(self.command):
                    for command, entry in entries.items():
                        with m.Case(command):
                            m.d.sync += address.eq(entry)

    def _link(self, m: Module, address: Signal) -> None:
        """The return stack has the address after the CALL of each routine. Where words have a
        parity, addresses on the stack have one."""
        depth, has_parity, size = self.program.call_depth, self.program.has_parity, len(address)
        stack = [Signal(size + has_parity, name=f"return_{k}") for k in range(depth)]
        pushed = Cat(address, address.xor()) if has_parity else address
        with m.If(self.returns):
            m.d.sync += address.eq(stack[0][:size])
        with m.If(self.calls):
            m.d.sync += [new.eq(old) for new, old in zip(stack, [pushed, *stack], strict=False)]
        with m.If(self.returns):
            m.d.sync += [place.eq(old) for place, old in pairwise(stack)]
        if has_parity:
            m.d.sync += self.wrong_return.eq(stack[0].xor())

    def _place_memory(self, m: Module, words: list[int], address: Signal) -> None:
        """Block RAM, whose word is taken into a register: its output comes late in the cycle."""
        size = self.layout.size
        if self.program.has_parity:
            words = [word | (word.bit_count() & 1) << size for word in words]
            size += 1
        m.submodules.memory = memory = Memory(
            shape=size, depth=len(words), init=words, attrs={"ram_style": "block"}
        )
        read = memory.read_port()
        m.d.comb += [read.addr.eq(address), read.en.eq(1)]
        m.d.sync += self.fetched.eq(read.data)
        if self.program.has_parity:
            parity = Signal()
            m.d.sync += parity.eq(read.data[-1])
            parities = lut_parities(Cat(self.fetched, parity))
            of_word = Signal(len(parities))
            m.d.sync += of_word.eq(parities)
            m.d.comb += self.wrong.eq(of_word.xor() | self.wrong_return)


class ProgramCounter:
    """What the program memory does, on integers: the address of the step, 0 at the end."""

    def __init__(self, program: Program, command: int):
        self.program = program
        self.address = program.entries[command]
        self.there = False
        """The step has been fetched while the one before was under way."""
        self._returns: list[int] = []

    @property
    def step(self) -> Step:
        """The step at the address."""
        return self.program.steps[self.address - 1]

    def move(self, *, jump: int, forward: int) -> None:
        """To the target, the following step, or nowhere."""
        self.there = bool(forward and not jump)
        if jump:
            self.address = self.program.targets[self.address - 1]
        elif forward:
            self.address += 1

    def call(self) -> None:
        """The following address is where the routine returns to."""
        self._returns.append(self.address + 1)

    def return_(self) -> None:
        """To the step that follows the call."""
        self.address = self._returns.pop()
        self.there = False
