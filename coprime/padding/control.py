"""The padding unit's program memory and state machine, and the same in integers."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from .instructions import EXECUTION, STEP, ByteStep, ByteStepKind
from .program_blocks import assemble
from .tasks import Option, Task

STEP_CYCLES = 3  # cycles of a step besides its bytes: FETCH, STORE, EXECUTE


class Control(wiring.Component):
    """Execute a task's steps: which step comes next, and when its parts happen.

    A step takes STEP_CYCLES; a STREAM takes three for each byte, in the states READ, COMBINE and
    ACT, and one READ more. A HASH_END waits for the digest.

    Parameters
    ----------
    programs : the steps of each task; at least one task

    Members
    -------
    start, task, options, wipe, busy, done : as in PaddingUnit
    now : EXECUTION; `combine` is 1 until `combined` is
    at_bound : the pointer is at the bound
    repeat : a LOOP jumps
    hash_valid, hash_ready, hash_start, hash_finish, hash_done : the control signals of `Sha256`
    clear, cleared : clear the slots, until `cleared` is 1; first thing after a reset
    """

    def __init__(self, programs: Mapping[Task, Sequence[ByteStep]]):
        self.programs = programs
        ports = {
            "start": In(1),
            "task": In(Task),
            "options": In(len(Option)),
            "wipe": In(1),
            **dict.fromkeys(("busy", "done"), Out(1)),
            "now": Out(EXECUTION),
            **dict.fromkeys(("combined", "at_bound", "repeat"), In(1)),
            "hash_valid": Out(1),
            "hash_ready": In(1),
            **dict.fromkeys(("hash_start", "hash_finish"), Out(1)),
            "hash_done": In(1),
            "clear": Out(1),
            "cleared": In(1),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Fetch a step, execute it, move its bytes."""
        m = Module()
        words, entries = assemble(self.programs)
        counter = Signal(range(len(words)))
        m.submodules.program = program = Memory(shape=STEP.size, depth=len(words), init=words)
        fetched = program.read_port()
        m.d.comb += fetched.addr.eq(counter)
        # A register of its own: block RAM is slow, and the path of a byte is long.
        step = Signal(STEP)
        left = Signal(STEP["count"].shape)  # bytes of the STREAM, if it has a count
        m.d.comb += self.now.step.eq(step)
        with m.If(self.now.act):
            m.d.sync += left.eq(left - 1)

        m.d.comb += self.busy.eq(1)
        fetches = Signal()
        m.d.comb += fetched.en.eq(fetches)
        with m.FSM(init="CLEAR"):
            with m.State("IDLE"):
                m.d.comb += self.busy.eq(0)
                with m.If(self.start):
                    with m.Switch(self.task):
                        for task, entry in entries.items():
                            with m.Case(task):
                                m.d.sync += counter.eq(entry)
                    m.next = "FETCH"
                with m.Elif(self.wipe):
                    m.next = "CLEAR"
            with m.State("CLEAR"):
                m.d.comb += self.clear.eq(1)
                with m.If(self.cleared):
                    m.next = "IDLE"
            with m.State("FETCH"):
                m.d.comb += fetches.eq(1)
                m.d.sync += counter.eq(counter + 1)
                m.next = "STORE"
            with m.State("STORE"):
                m.d.sync += step.eq(fetched.data)
                m.next = "EXECUTE"
            with m.State("EXECUTE"):
                m.d.comb += self.now.execute.eq(1)
                m.next = "FETCH"
                with m.Switch(step.kind):
                    with m.Case(ByteStepKind.END):
                        m.d.comb += self.done.eq(1)
                        m.next = "IDLE"
                    with m.Case(ByteStepKind.STREAM):
                        m.d.sync += left.eq(step.count)
                        m.next = "READ"
                    with m.Case(ByteStepKind.HASH_START):
                        m.d.comb += self.hash_start.eq(1)
                    with m.Case(ByteStepKind.HASH_END):
                        m.d.comb += self.hash_finish.eq(1)
                        m.next = "EXECUTE"
                        with m.If(self.hash_ready):
                            m.next = "HASH"
                    with m.Case(ByteStepKind.LOOP), m.If(self.repeat):
                        m.d.sync += counter.eq(step.target)
                    with m.Case(ByteStepKind.SKIP):
                        option = self.options.bit_select(step.option, 1)
                        with m.If(option == step.sense):
                            m.d.sync += counter.eq(step.target)
            with m.State("HASH"), m.If(self.hash_done):
                m.next = "FETCH"
            with m.State("READ"):
                m.next = "COMBINE"
                with m.If((step.bounded & self.at_bound) | (step.count.any() & (left == 0))):
                    m.next = "FETCH"
            with m.State("COMBINE"):
                m.d.comb += self.now.combine.eq(1)
                with m.If(self.combined):
                    m.next = "ACT"
            with m.State("ACT"):
                m.d.comb += self.hash_valid.eq(step.hash)
                with m.If(~step.hash | self.hash_ready):
                    m.d.comb += self.now.act.eq(1)
                    m.next = "READ"
        return m


@dataclass
class ControlTwin:
    """What Control does, in integers.

    Attributes
    ----------
    cycles : in which the unit has been busy
    """

    program: Sequence[ByteStep]
    options: frozenset[Option]
    address: int = 0
    cycles: int = 0

    def steps(self) -> Iterator[ByteStep]:
        """The steps in the order of their execution; jumps count before the next one."""
        while True:
            step = self.program[self.address]
            self.address += 1
            self.cycles += STEP_CYCLES
            if step.kind is ByteStepKind.END:
                return
            if step.kind is ByteStepKind.SKIP:
                self.jump(step, (step.option in self.options) == step.sense)
            yield step

    def jump(self, step: ByteStep, taken: bool) -> None:
        """Go to the target of a SKIP or a LOOP, or not."""
        if taken:
            self.address += step.target

    def bytes(self, step: ByteStep, at_bound: Callable[[], bool]) -> Iterator[int]:
        """The number of each byte of a STREAM, counted from 0, at its COMBINE."""
        done = 0
        self.cycles += 1
        while not (step.bounded and at_bound()) and not (step.count and done == step.count):
            self.cycles += 2
            yield done
            self.cycles += 1
            done += 1
