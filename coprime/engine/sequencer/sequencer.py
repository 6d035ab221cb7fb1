"""The sequencer: executes a lane's program, step by step."""

from collections.abc import Mapping
from typing import Any

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.target import Target
from coprime.operations.operation import among
from coprime.program.assembler import Program
from coprime.program.operands import Context, Reference
from coprime.program.steps import Next, StepKind

from ..contract import ERROR_BITS, Capabilities, Error, PerLength
from .current_context import CurrentContext
from .drawn_bits import DrawnBits
from .exponent_scanner import ExponentScanner
from .feature import Feature, shown_fields
from .loop_counter import LoopCounter
from .next_rules import RULES, Conditions, Effect, Way
from .products_under_way import products_under_way
from .program_memory import ProgramMemory
from .proof import Proof
from .rotation import Rotation
from .scan_counter import ScanCounter
from .step_control import StepControl
from .step_kinds import step_kinds
from .step_sizes import StepSizes
from .swaps import SwapsByBit
from .windows import ExponentWindow


def _present(*parts: Feature | None) -> list[Feature]:
    """Those that are there."""
    return [part for part in parts if part is not None]


def _ports(capabilities: Capabilities, reference: Any) -> dict[str, Any]:
    """Those that every sequencer has; `reference` is the shape of an operand's number."""
    count = capabilities.count_bits
    return {
        "command": In(capabilities.command_bits),
        "start": In(1),
        "busy": Out(1),
        "done": Out(1),
        "error": Out(ERROR_BITS),
        "counts": In(PerLength(count)),
        "lengths": In(PerLength(capabilities.length_bits)),
        # The step under way.
        "x": Out(reference),
        "y": Out(reference),
        "destination": Out(reference),
        "parity": Out(1),
        "modulus": Out(Context),
        "operation": Out(StepKind),
        "inner_digits": Out(count),
        "outer_digits": Out(count),
        "rounds": Out(capabilities.round_count_bits),
        "discards": Out(1),
        # The two units.
        **dict.fromkeys(("multiply", "prepare", "linear", "clear", "clearing"), Out(1)),
        **dict.fromkeys(("multiplied", "linear_done", "borrow"), In(1)),
        **dict.fromkeys(("z_is_zero", "z_is_odd", "z_is_normalized"), In(1)),
        # The exponent, read through port A while both units are idle.
        "exponent_read": Out(1),
        "exponent_index": Out(count),
        "exponent_data": In(capabilities.digit_width),
        # The other lane.
        "at_barrier": Out(1),
        "other_at_barrier": In(1),
        "other_ends": In(1),
    }


class Sequencer(wiring.Component):
    """Fetches a step, starts the multiplier or the linear unit, and selects the next step.

    FETCH takes a cycle, or three for a step that does not follow the one before in the program; the
    other cycles of a step, two or more, are with its kind. The end of an operation takes
    one. `prediction.py` composes the same on integers.

    Parameters
    ----------
    program : Program
    capabilities : Capabilities
    numbers : mapping of Reference to int
        Values of `x`, `y` and `destination` for each operand.
    leads : bool
        Of two lanes, this one ends the operation. The other is idle in a command for which its
        program has no entry.
    target : Target
        With XC7 the program memory and the selection of the exponent's bit are explicit LUTs.
    overlaps : bool
        The multiplier accepts a product before the previous one has ended.
    chains : bool
        The same of one memory, and only a product with the modulus and the lengths of the previous
        one.

    Members
    -------
    command, start, busy, done, error, counts, lengths : as in the engine's contract
    x, y, destination, modulus, operation : of the step under way
    inner_digits, outer_digits, rounds : digits of its modulus and of its y; rounds of its product
    parity : changes as ACCUMULATOR and SPARE change places
    discards : its product is not kept
    multiply, prepare, linear, clear, clearing : what the units begin with; a wipe is under way
    multiplied, linear_done, borrow, z_is_zero, z_is_odd, z_is_normalized : of the units
    exponent_read, exponent_index, exponent_data : of the exponent, through port A
    at_barrier, other_at_barrier : this lane, or the other, waits at a BARRIER
    other_ends : the other lane ends the operation
    others : those of the parts that the program needs; each part's class describes its own
    """

    def __init__(
        self,
        program: Program,
        capabilities: Capabilities,
        *,
        numbers: Mapping[Reference, int],
        leads: bool = True,
        target: Target = Target.GENERIC,
        overlaps: bool = False,
        chains: bool = False,
    ):
        self.program, self.capabilities, self.leads = program, capabilities, leads
        kinds, sums = program.kinds, program.sums
        self.step_kinds = step_kinds(program, capabilities)
        self.products = products = products_under_way(
            numbers, overlaps=overlaps, chains=chains, sums=sums
        )
        self.memory = memory = ProgramMemory(program, numbers, capabilities.command_bits, target)
        self.scanner = scanner = ExponentScanner(program, capabilities, target)
        self.sizes = StepSizes(program, capabilities, scanner)
        # Optional parts: each is there or not.
        swaps = SwapsByBit(shares=products.shares) if program.swaps else None
        self.current = (
            CurrentContext(program, memory.layout, numbers) if program.alternates else None
        )
        self.windows = (
            ExponentWindow(program, capabilities, scanner, numbers) if program.window_bits else None
        )
        self.proof = Proof(program, capabilities) if program.checks else None
        self.counter = ScanCounter() if StepKind.LOAD_COUNTER in kinds else None
        has_loops = program.longest_loop or program.blinds_scalars
        loop = LoopCounter(program, capabilities) if has_loops else None
        drawn_bits = None
        if program.adds_drawn:
            assert loop is not None
            drawn_bits = DrawnBits(loop, capabilities.digit_width)
        self.rotation = None if program.in_place else Rotation(numbers, three=program.rotates)
        shown = shown_fields(program)
        self.parts: list[Feature] = _present(
            *(memory, self.current, self.sizes, *shown, scanner, self.windows, products),
            *(self.proof, self.counter, loop, drawn_bits, self.rotation, swaps),
        )
        self.step = Signal(memory.layout)
        """The step under way."""
        self.begins = Signal()
        """A command begins."""
        self.jump, self.again, self.next_bit, self.written = (
            Signal(name=name) for name in ("jump", "again", "next_bit", "written")
        )
        """To the target, to the same step, to the next bit; a product has been written."""
        self.effects = {effect: Signal(name=effect.name.lower()) for effect in Effect}
        self.way = {
            name: Signal(name=f"will_{name}")
            for name in ("jump", "again", "next_bit", "unless_borrow")
        }
        """How the step under way will be left."""
        self.ends = Signal()
        """Its target is the end of the operation."""
        self._codes = {
            rule: [*program.branch_codes.values()] if rule is Next.IF_COMMAND else [rule]
            for rule in RULES
            if rule in program.nexts | {Next.FOLLOWING}
        }
        """Those in the program memory that stand for each rule."""
        self.in_commands = Signal()
        """The command is one of those by which the step under way branches."""
        self.code = Signal(ERROR_BITS)
        ports = _ports(capabilities, memory.layout["x"].shape)
        for part in _present(
            *(products, *shown, swaps, self.sizes, self.windows, scanner, self.proof, memory),
            drawn_bits,
        ):
            ports |= part.ports()
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Connect the parts, and control them by a state machine."""
        m = Module()
        control = self._step_control()
        for part in self.parts:
            part.connect(m, control)
        m.d.comb += [self.error.eq(self.code), self.busy.eq(1)]
        for part in self.parts:
            part.amend_error(m, control)
        self._find_way(m)
        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += self.busy.eq(0)
                with m.If(self.start):
                    m.d.comb += self.begins.eq(1)
                    self._begin(m)
                for part in self.parts:
                    part.at_idle(m, control)
            with m.State("FETCH"), m.If(self.memory.there), self.products.may_take(m, control):
                m.d.sync += self.step.eq(control.fetched)
                self._find_branch(m)
                for part in self.parts:
                    part.at_fetch(m, control)
                with self.products.may_begin(m, control):
                    m.d.comb += self.memory.taken.eq(1)
                    self._dispatch(m)
            for kinds in self.step_kinds:
                kinds.states(m, control)
            for part in self.parts:
                part.states(m, control, self.parts)
            if not self.capabilities.bare:
                with m.State("WIPE"):
                    m.d.comb += self.clearing.eq(1)
                    with m.If(self.linear_done):
                        m.next = "END"
            with m.State("END"):
                m.d.comb += self.done.eq(1)
                m.next = "IDLE"
                for part in self.parts:
                    part.at_end(m, control)
        return m

    def _step_control(self) -> StepControl:
        """What the parts and the kinds of steps are given of all this."""
        return StepControl(
            ports=self,
            scanner=self.scanner,
            counter=self.counter,
            proof=self.proof,
            memory=self.memory,
            fetched=self.memory.fetched if self.current is None else self.current.resolved,
            step=self.step,
            code=self.code,
            length_error=self.sizes.length_error,
            begins=self.begins,
            effects=self.effects,
            jump=self.jump,
            again=self.again,
            next_bit=self.next_bit,
            written=self.written,
            **self.products.waits(self, self.step),
            proceed=self.proceed,
            end=self.end,
        )

    def _begin(self, m: Module) -> None:
        """A command comes: to its first step, or to its end."""
        m.d.sync += self.code.eq(Error.NONE)
        m.next = "FETCH"
        with m.Switch(self.command):
            with m.Case(*self.program.entries):
                pass
            if not self.capabilities.bare:
                with m.Case(*self.capabilities.wipes):
                    m.d.comb += self.clear.eq(1)
                    m.next = "WIPE"
            with m.Default():
                if self.leads:
                    self.end(m, Error.UNSUPPORTED)
                else:
                    m.next = "IDLE"

    def _find_branch(self, m: Module) -> None:
        """Whether the command is one of those by which the fetched step branches."""
        with m.Switch(self.memory.fetched.next):
            for commands, code in self.program.branch_codes.items():
                with m.Case(code):
                    m.d.sync += self.in_commands.eq(among(self.command, commands))

    def _dispatch(self, m: Module) -> None:
        """To the first state of the fetched step's kind."""
        kind = self.memory.fetched.kind
        m.d.comb += [
            self.multiply.eq(kind == StepKind.MULTIPLY),
            self.prepare.eq(kind == StepKind.PREPARE),
        ]
        *others, last = self.step_kinds
        with m.Switch(kind):
            for kinds in others:
                with m.Case(*sorted(kinds.kinds)):
                    m.next = kinds.first_state
            with m.Default():
                m.next = last.first_state

    def _find_way(self, m: Module) -> None:
        """What comes after the step under way, from its second cycle on: no step ends earlier.

        Only whether the linear unit has borrowed is known no earlier than when it is used.
        """
        conditions = Conditions(
            borrow=self.borrow,
            command=self.in_commands,
            **{name: signal for part in self.parts for name, signal in part.conditions().items()},
        )
        m.d.sync += [
            *(taken.eq(0) for taken in self.way.values()),
            self.ends.eq(self.step.target == 0),
        ]
        with m.Switch(self.step.next):
            for rule, codes in self._codes.items():
                way = RULES[rule](conditions)
                with m.Case(*codes):
                    if rule is Next.IF_BORROW:
                        m.d.sync += self.way["unless_borrow"].eq(1)
                        way = way._replace(jump=0)
                    m.d.sync += [
                        self.way["jump"].eq(way.jump),
                        self.way["again"].eq(self._stays(rule, way)),
                        self.way["next_bit"].eq(way.next_bit),
                    ]

    @staticmethod
    def _stays(rule: Next, way: Way) -> Any:
        """Whether the same step is next."""
        return 0 if rule in (Next.RETURN, Next.BARRIER) else ~(way.jump | way.forward)

    def proceed(self, m: Module) -> None:
        """Add what comes after a step that is done. A jump to address 0 ends the operation."""
        m.d.comb += [
            self.jump.eq(self.way["jump"] | (self.way["unless_borrow"] & ~self.borrow)),
            self.again.eq(self.way["again"]),
            self.next_bit.eq(self.way["next_bit"]),
        ]
        with m.Switch(self.step.next):
            for rule, codes in self._codes.items():
                effect = RULES[rule](Conditions()).effect
                with m.Case(*codes):
                    if effect is not None:
                        m.d.comb += self.effects[effect].eq(1)
                    if rule is Next.BARRIER:
                        m.next = "BARRIER"
        with m.If(self.jump & self.ends):
            m.next = "END"

    def end(self, m: Module, error: Error | Signal) -> None:
        """End the operation with an error; with FAULT the memory is wiped before."""
        m.d.sync += self.code.eq(error)
        m.next = "FAULT" if error is Error.FAULT else "END"
