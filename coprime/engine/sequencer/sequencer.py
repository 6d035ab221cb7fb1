"""The sequencer: executes a lane's program, step by step."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.target import Target
from coprime.cells.wires import same_named
from coprime.model.scalar_blinding import random_bits
from coprime.operations.operation import among
from coprime.program.assembler import Program
from coprime.program.operands import Context, Mode, Reference
from coprime.program.steps import BESIDE_PRODUCTS, Next, StepKind, drawn_bits

from ..contract import ERROR_BITS, Capabilities, Error, PerLength
from .barrier_steps import BarrierSteps
from .current_context import CurrentContext
from .exponent_scanner import ExponentScanner
from .length_check import LengthCheck
from .linear_steps import LinearSteps
from .loop_counter import LoopCounter
from .multiply_steps import MultiplySteps
from .next_rules import Conditions, Effect, Way
from .program_memory import ProgramMemory
from .proof import Proof
from .rotation import Rotation
from .scan_counter import ScanCounter
from .scan_steps import BranchSteps, PassSteps, ScanSteps
from .step_control import (
    KindsOfSteps,
    LinearSignals,
    MultiplierSignals,
    OtherLaneSignals,
    StepControl,
)
from .windows import ExponentWindow

_MAY_END = frozenset({Next.JUMP, Next.EACH_MODULUS, Next.IF_BORROW, Next.LOOP})
"""Rules whose jump to address 0 ends the operation."""


def step_kinds(
    program: Program, capabilities: Capabilities, *, overlaps: bool
) -> list[KindsOfSteps]:
    """All kinds of steps of a program; the linear steps are the last ones.

    With overlapping products the exponent's bit arrives a cycle later.
    """
    kinds: list[KindsOfSteps] = [
        MultiplySteps(program, capabilities),
        ScanSteps(program, capabilities, late=overlaps),
        BarrierSteps(),
        BranchSteps(),
        PassSteps(),
        LinearSteps(program, capabilities),
    ]
    # A linear step whose rule is BARRIER goes on to the state of those steps.
    occurring = program.kinds | ({StepKind.BARRIER} if program.meets else frozenset())
    return [each for each in kinds if each.kinds & occurring]


class Sequencer(wiring.Component):
    """Fetches a step, starts the multiplier or the linear unit, and selects the next step.

    FETCH takes a cycle; the other cycles of a step are with its kind. The end of an operation takes
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
        one. In FETCH other steps wait, with the step before still under way.

    Members
    -------
    occupied : the multiplier works, or the last digit of a linear step is not written yet, and only
        a MULTIPLY may begin, or with sums a PASS, or a sum or a move; only if it `overlaps`, or
        products chain
    conflicts : the sum or move has to wait all the same, for a product or another one; these and
        the next two only with sums, too
    adds, runs_on : a linear step is under way; its second digit has been asked for
    at_barrier, other_at_barrier : this lane, or the other, waits at a BARRIER
    other_ends : the other lane ends the operation
    columns : the window is a column, and its highest bit the sign; only if any step scans columns
    short : c of the modulus P is 1; only if any command has fewer digits then
    suppress_write : the product under way is not written, since the window is 0; only if `in_place`
    public : it is E that is scanned, whatever the modulus; only if any step does
    exponent_other : a digit of E, which lies in another memory than the other exponents; only if
        `in_place`
    descale : the product under way is to be descaled; only if any step does
    shift : 1 more than the logarithm of how often the modulus is added; 0: not; only if any step
        adds it
    copies : the result is written to both banks; only if any is
    swaps : the numbers of `OF_ONE` have changed places; only if any step does that by a bit
    by_bit : the step is one that does that, whatever the bit; only if sums are beside products, too
    differs : while idle: what is read as the result is not the number that was checked; only if the
        program checks
    wrong : a word of the program has a bit that has changed; only with parity
    fault : the multiplier has seen a fault of its own; only if the program checks
    at_fault, other_at_fault : this lane, or the other, has a fault, or has seen one of the other;
        these and the next ones only if the program shares its check
    other_busy : the other lane is not idle
    began, other_began, proved, other_proved : of the lanes' `Proof`
    draws, drawn : request for a random digit before an ADD_IF_DRAWN; it is available; these and the
        next two only if there is such a step
    drawn_bit : which of the digit's bits decides
    spends : the last bit of the digit is used
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
        self.program, self.chains = program, chains
        self.overlaps, self.shares = overlaps, overlaps and program.sums
        self.capabilities = capabilities
        self.numbers = numbers
        self.leads = leads
        kinds = program.kinds
        self.step_kinds = step_kinds(program, capabilities, overlaps=overlaps)
        self.memory = ProgramMemory(program, numbers, capabilities.command_bits, target)
        self.lengths_allowed = LengthCheck(program, capabilities)
        self.scanner = ExponentScanner(program, capabilities, target, late=overlaps)
        # Optional hardware: each is there or not.
        self.current: CurrentContext | None = None
        if program.alternates:
            turns = program.moduli or (Context.WHOLE,)
            self.current = CurrentContext(turns, self.memory.layout, numbers)
        self.windows = ExponentWindow(program, capabilities) if program.window_bits else None
        self.counter = ScanCounter() if StepKind.LOAD_COUNTER in kinds else None
        longest_loop = program.longest_loop
        if program.blinds_scalars:
            longest_loop = max(longest_loop, random_bits(capabilities.max_prime_length))
        self.loop = LoopCounter(longest_loop) if longest_loop else None
        self.proof = Proof(program.moduli, program.shares_check) if program.checks else None
        self.rotation = None if program.in_place else Rotation(numbers, three=program.rotates)
        self.window = None if self.windows is None else self.windows.value
        self.places = None if self.rotation is None else self.rotation.places
        self.step = Signal(self.memory.layout)
        """The step under way."""
        self.begins = Signal()
        """A command begins."""
        self.forward, self.jump, self.next_bit, self.written = (
            Signal(name=name) for name in ("forward", "jump", "next_bit", "written")
        )
        """To the following step, to the target, to the next bit; a product has been written."""
        self.effects = {effect: Signal(name=effect.name.lower()) for effect in Effect}
        self._rules = (program.nexts | {Next.FOLLOWING}) - {Next.IF_COMMAND}
        self.code = Signal(ERROR_BITS)
        reference, count = self.memory.layout["x"].shape, capabilities.count_bits
        super().__init__(
            {
                "command": In(capabilities.command_bits),
                "start": In(1),
                "busy": Out(1),
                "done": Out(1),
                "error": Out(ERROR_BITS),
                "counts": In(PerLength(count)),
                "lengths": In(PerLength(capabilities.length_bits)),
                # The step under way. `parity` changes as ACCUMULATOR and SPARE change places.
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
            | self._optional_ports()
        )
        self._all_digits = self.inner_digits
        """Of the step's modulus, whatever its c is."""
        if program.shortens:
            self._all_digits = Signal(count, name="all_digits")

    def _optional_ports(self) -> dict[str, Any]:
        """Those that only some programs need, see above."""
        program, width = self.program, self.capabilities.digit_width
        return (
            ({"occupied": In(1)} if self.overlaps or self.chains else {})
            | (dict.fromkeys(("conflicts", "adds", "runs_on"), In(1)) if self.shares else {})
            | ({"descale": Out(1)} if program.descales else {})
            | ({"shift": Out(self.memory.layout["shift"].shape)} if program.sums else {})
            | ({"copies": Out(1)} if program.copies else {})
            | ({"swaps": Out(1)} if program.swaps else {})
            | ({"by_bit": Out(1)} if program.swaps and self.shares else {})
            | ({"short": In(1)} if program.shortens else {})
            | ({"columns": Out(1)} if program.scans_columns else {})
            | ({"suppress_write": Out(1)} if program.in_place else {})
            | ({"exponent_other": In(width)} if program.in_place else {})
            | ({"public": Out(1)} if program.scans_public else {})
            | ({"differs": In(1), "fault": In(1)} if program.checks else {})
            | ({"wrong": Out(1)} if program.has_parity else {})
            | (
                {
                    **dict.fromkeys(("at_fault", "began", "proved"), Out(1)),
                    **dict.fromkeys(("other_at_fault", "other_busy"), In(1)),
                    **dict.fromkeys(("other_began", "other_proved"), In(1)),
                }
                if program.shares_check
                else {}
            )
            | (
                {
                    "draws": Out(1),
                    "drawn": In(1),
                    "drawn_bit": Out(range(drawn_bits(width))),
                    "spends": Out(1),
                }
                if program.adds_drawn
                else {}
            )
        )

    def elaborate(self, platform: object) -> Module:
        """Connect the components, and control them by a state machine."""
        m = Module()
        m.submodules.program_memory = memory = self.memory
        private = among(self.command, self.capabilities.private)
        m.d.comb += [
            memory.begins.eq(self.begins),
            memory.command.eq(self.command),
            memory.jump.eq(self.jump),
            memory.target.eq(self.step.target),
            memory.forward.eq(self.forward),
        ]
        if self.program.has_parity:
            m.d.comb += self.wrong.eq(memory.wrong)
        if self.program.call_depth:
            m.d.comb += [
                memory.calls.eq(self.effects[Effect.CALL]),
                memory.returns.eq(self.effects[Effect.RETURN]),
            ]
        resolved: data.View[data.StructLayout] = memory.fetched
        if self.current is not None:
            m.submodules.current_context = current = self.current
            m.d.comb += [
                current.begins.eq(self.begins),
                current.has_moduli.eq(among(self.command, self.program.with_moduli)),
                current.advance.eq(self.effects[Effect.NEXT_MODULUS]),
                current.fetched.eq(memory.fetched),
            ]
            resolved = current.resolved
        self._show_step(m)
        self._connect_scanner(m, private)
        self._connect_options(m)
        m.d.comb += [self.error.eq(self.code), self.busy.eq(1)]
        if self.proof is not None:
            with m.If(~self.proof.complete & (self.code == Error.NONE)):
                m.d.comb += self.error.eq(Error.FAULT)
        if self.program.swaps:
            swaps = Signal()
            # A bit that comes late is there in the cycle after FETCH.
            m.d.comb += self.swaps.eq(swaps & self.scanner.bit if self.overlaps else swaps)
            if self.shares:
                m.d.comb += self.by_bit.eq(swaps)
        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += self.busy.eq(0)
                with m.If(self.start):
                    m.d.comb += self.begins.eq(1)
                    self._begin(m)
                if self.program.checks:
                    with m.Elif(self.differs & (self.code == Error.NONE)):
                        self.end(m, Error.FAULT)
                if self.program.shares_check:
                    with m.Elif(self.other_at_fault):
                        self.end(m, Error.FAULT)
            with m.State("FETCH"), self._may_take(m, resolved):
                m.d.sync += self.step.eq(resolved)
                if self.program.swaps:
                    bit_there = Const(1) if self.overlaps else self.scanner.bit
                    m.d.sync += swaps.eq(memory.fetched.by_bit & bit_there)
                if self.overlaps:
                    with m.If(self._runs_beside_products(memory.fetched) | ~self.occupied):
                        self._dispatch(m)
                else:
                    self._dispatch(m)
            control = self._step_control()
            for kinds in self.step_kinds:
                kinds.states(m, control)
            if self.proof is not None:
                with m.State("FAULT"):
                    self._wipe_after_fault(m)
                    if self.shares:
                        with m.If(self.adds):
                            m.d.comb += self.clear.eq(0)
                            m.next = "FAULT"
            if not self.capabilities.bare:
                with m.State("WIPE"):
                    m.d.comb += self.clearing.eq(1)
                    with m.If(self.linear_done):
                        m.next = "END"
            with m.State("END"):
                m.d.comb += self.done.eq(1)
                m.next = "IDLE"
                if self.shares or self.chains:
                    with m.If(self.occupied):
                        m.d.comb += self.done.eq(0)
                        m.next = "END"
                if self.proof is not None:
                    # An operation that ends without all of its checks, by whatever fault.
                    with m.If(self.error != self.code):
                        m.d.comb += self.done.eq(0)
                        self.end(m, Error.FAULT)
        return m

    def _step_control(self) -> StepControl:
        """What the kinds of steps are given of all this."""
        drawing = ("draws", "drawn", "drawn_bit") if self.program.adds_drawn else ()
        sharing = ("other_at_fault", "other_busy") if self.program.shares_check else ()
        flags = ("borrow", "z_is_zero", "z_is_odd", "z_is_normalized")
        return StepControl(
            step=self.step,
            forward=self.forward,
            jump=self.jump,
            next_bit=self.next_bit,
            proceed=self.proceed,
            end=self.end,
            scanner=self.scanner,
            exponent_read=self.exponent_read,
            counter=self.counter,
            proof=self.proof,
            multiplier=MultiplierSignals(
                done=self.multiplied,
                discards=self.discards,
                written=self.written,
                occupied=self.occupied if self.chains else None,
            ),
            linear=LinearSignals(
                start=self.linear,
                done=self.linear_done | self._goes_on if self.shares else self.linear_done,
                flags={name: getattr(self, name) for name in flags},
                length_error=self.lengths_allowed.error,
                conflicts=self.conflicts if self.shares else Const(0),
                adds=self.adds if self.shares else None,
                **{name: getattr(self, name) for name in drawing},
            ),
            other=OtherLaneSignals(
                at_barrier=self.at_barrier,
                other_at_barrier=self.other_at_barrier,
                other_ends=self.other_ends,
                **{name: getattr(self, name) for name in sharing},
            ),
        )

    def _wipe_after_fault(self, m: Module) -> None:
        """Wipe the memory; of two lanes, when the other one is here, too, and both."""
        if not self.program.shares_check:
            m.d.comb += self.clear.eq(1)
            m.next = "WIPE"
            return
        m.d.comb += self.at_fault.eq(1)
        with m.If(self.other_at_fault):
            m.d.comb += self.clear.eq(1)
            m.next = "WIPE"

    def _show_step(self, m: Module) -> None:
        """The step under way, and the sizes of its operands."""
        step, own = self.step, self.capabilities
        counts, lengths = (
            Array([one.modulus, one.p, one.q, Const(0, len(one.p))])
            for one in (self.counts, self.lengths)
        )
        m.submodules.length_check = check = self.lengths_allowed
        if self.program.shortens:
            m.d.comb += self._all_digits.eq(counts[step.modulus])
        m.d.comb += [
            *same_named(self, step, "x", "y", "destination", "modulus"),
            self.operation.eq(step.kind),
            self.inner_digits.eq(self._digits(counts, step.modulus)),
            self.outer_digits.eq(self._digits(counts, step.outer)),
            check.modulus.eq(step.modulus),
            *same_named(check, self, "command", "counts", "lengths"),
            check.inner_digits.eq(self._all_digits),
            self.scanner.length.eq(
                Mux(step.modulus == Context.WHOLE, self.lengths.exponent, lengths[step.modulus])
            ),
        ]
        if self.program.descales:
            m.d.comb += self.descale.eq(step.descale)
        if self.program.sums:
            m.d.comb += self.shift.eq(step.shift)
        if self.program.copies:
            m.d.comb += self.copies.eq(step.copies)
        if own.round_bits == own.digit_width:
            m.d.comb += self.rounds.eq(self.outer_digits)
        else:
            length = lengths[step.outer]
            m.d.comb += self.rounds.eq(length + own.headroom if own.headroom else length)

    def _digits(self, counts: Array, context: Value) -> Value:
        """Those of numbers modulo the context's modulus: modulo P less those of c where c is 1."""
        digits: Value = counts[context]
        if not self.program.shortens:
            return digits
        shortens = among(self.command, self.program.shortens)
        is_short = self.short & shortens & (context == Context.P)
        of_c = self.capabilities.headroom // self.capabilities.digit_width
        return digits - (is_short if of_c == 1 else Mux(is_short, of_c, 0))

    def _connect_scanner(self, m: Module, private: Value) -> None:
        step = self.step
        m.submodules.scanner = scanner = self.scanner
        m.d.comb += [
            scanner.busy.eq(self.busy),
            scanner.operation.eq(step.kind),
            scanner.modulus.eq(step.modulus),
            scanner.private.eq(private),
            scanner.whole_digits.eq(self.counts.exponent),
            scanner.inner_digits.eq(self._all_digits),
            *same_named(scanner, self, "next_bit", "exponent_data"),
            self.exponent_index.eq(scanner.exponent_index),
            self.discards.eq(step.conditional & ~scanner.bit),
        ]
        if self.program.evens_exponents:
            m.d.comb += scanner.even_exponent.eq(step.even_exponent)
        if self.program.scans_columns:
            m.d.comb += self.columns.eq(scanner.columns)
        if self.program.leaves_bits:
            m.d.comb += scanner.leaves_two.eq(step.leaves_two)
        if self.program.in_place:
            m.d.comb += scanner.exponent_other.eq(self.exponent_other)
        if self.program.scans_public:
            m.d.comb += self.public.eq(scanner.public)

    def _connect_options(self, m: Module) -> None:
        """Hardware that is there or not."""
        step, scanner, effects = self.step, self.scanner, self.effects
        if self.windows is not None:
            m.submodules.windows = windows = self.windows
            selects = step.y == self.numbers[Mode.WINDOW]
            if self.program.scans_by_moves:
                moves = (step.kind == StepKind.MOVE) & (step.x == self.numbers[Mode.WINDOW])
                used = selects | moves
            else:
                used = selects
            scans: Value = step.kind == StepKind.SCAN_WINDOWS
            if self.program.scans_columns:
                scans |= step.kind == StepKind.SCAN_COLUMNS
            m.d.comb += [
                windows.busy.eq(self.busy),
                windows.prepare.eq(self.prepare),
                windows.enter.eq(effects[Effect.ENTER_BIT]),
                windows.next_entry.eq(effects[Effect.NEXT_ENTRY]),
                windows.multiplied.eq(effects[Effect.FINISH_WINDOW] & used),
                windows.load.eq(scanner.take & scans),
                windows.length.eq(scanner.length),
                windows.scans.eq(scans),
                windows.whole.eq(step.modulus == Context.WHOLE),
                windows.lowest_digit.eq(scanner.exponent_index == 0),
                *same_named(windows, scanner, "bit", "last_bit", "bit_index", "next_bit"),
            ]
            if self.program.in_place:
                suppresses = selects & windows.zero
                if self.program.has_thirds:  # a column of 0 selects a point like any other
                    suppresses &= ~scanner.columns
                m.d.comb += self.suppress_write.eq(suppresses)
            if self.program.scans_columns:
                m.d.comb += [
                    scanner.column_ends.eq(windows.full),
                    scanner.prepare.eq(self.prepare),
                ]
        if self.proof is not None:
            m.submodules.proof = proof = self.proof
            checked = among(self.command, self.capabilities.with_check)
            m.d.comb += [
                proof.begins.eq(self.begins),
                proof.checked.eq(checked),
                proof.voids.eq(self.fault | (self.clearing & checked)),
                proof.modulus.eq(step.modulus),
            ]
            if self.program.shares_check:
                m.d.comb += [
                    *same_named(self, proof, "began", "proved"),
                    *same_named(proof, self, "other_began", "other_proved"),
                ]
        if self.counter is not None:
            m.submodules.counter = counter = self.counter
            m.d.comb += [
                counter.busy.eq(self.busy),
                *same_named(counter, scanner, "begin", "bit"),
                counter.count.eq(effects[Effect.COUNT]),
            ]
        if self.loop is not None:
            m.submodules.loop_counter = loop = self.loop
            m.d.comb += [
                loop.busy.eq(self.busy),
                loop.times.eq(step.times),
                loop.advance.eq(effects[Effect.LOOP]),
            ]
            if self.program.blinds_scalars:
                bits = random_bits(self.lengths.q)
                m.d.comb += loop.times.eq(Mux(step.times == 0, bits, step.times))
            if self.program.adds_drawn:
                m.d.comb += [
                    self.drawn_bit.eq(loop.count),
                    self.spends.eq(loop.advance & (self.drawn_bit.all() | loop.last)),
                ]
        if self.rotation is not None:
            m.submodules.rotation = rotation = self.rotation
            m.d.comb += [
                rotation.written.eq(self.written),
                rotation.destination.eq(step.destination),
                self.parity.eq(rotation.parity),
            ]

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

    def _may_take(self, m: Module, fetched: data.View) -> AbstractContextManager[None]:
        """When a step is taken: at once, but where products chain not while one is under way,
        unless it is a product like that."""
        if not self.chains:
            return nullcontext()
        multiplies = (one.kind == StepKind.MULTIPLY for one in (fetched, self.step))
        same = (fetched[name] == self.step[name] for name in ("modulus", "outer"))
        taken: AbstractContextManager[None] = m.If(Cat(*multiplies, *same).all() | ~self.occupied)
        return taken

    def _runs_beside_products(self, fetched: data.View) -> Value:
        """Whether the fetched step need not wait until no product is under way."""
        is_product = fetched.kind == StepKind.MULTIPLY
        if not self.shares:
            return is_product
        modes = [self.numbers[one] for one in Mode if one in self.numbers]
        is_sum = fetched.kind.matches(*BESIDE_PRODUCTS) & ~fetched.destination.matches(*modes)
        return is_product | is_sum | (fetched.kind == StepKind.PASS)

    @property
    def _goes_on(self) -> Value:
        """The linear step does as `Step.runs_on` says, and may leave the sequencer."""
        step = self.step
        modes = [self.numbers[one] for one in Mode if one in self.numbers]
        named = (step.x, step.y, step.destination)
        stays = Cat(step.next == Next.IF_BORROW, *(one.matches(*modes) for one in named)).any()
        return self.runs_on & step.kind.matches(*BESIDE_PRODUCTS) & ~stays

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

    def proceed(self, m: Module, rules: Mapping[Next, Callable[[Conditions], Way]]) -> None:
        """Add what comes after a step that is done, by those of the rules that the program has.

        A jump to address 0 ends the operation; those of a scan never go there.
        """
        conditions = self._conditions()
        plain = [(rule, rule, conditions) for rule in rules if rule in self._rules]
        branches = [
            (code, Next.IF_COMMAND, replace(conditions, command=among(self.command, commands)))
            for commands, code in self.program.branch_codes.items()
        ]
        with m.Switch(self.step.next):
            for code, rule, found in [*plain, *branches]:
                way = rules[rule](found)
                with m.Case(code):
                    m.d.comb += [
                        self.forward.eq(way.forward),
                        self.jump.eq(way.jump),
                        self.next_bit.eq(way.next_bit),
                    ]
                    if way.effect is not None:
                        m.d.comb += self.effects[way.effect].eq(1)
                    if rule is Next.BARRIER:
                        m.next = "BARRIER"
                    elif rule in _MAY_END:
                        with m.If(Value.cast(way.jump) & (self.step.target == 0)):
                            m.next = "END"

    def _conditions(self) -> Conditions:
        windows, counter, loop = self.windows, self.counter, self.loop
        return Conditions(
            bit=self.scanner.bit,
            last_bit=self.scanner.last_bit,
            window_full=Const(0) if windows is None else windows.full,
            window_not_zero=Const(0) if windows is None else windows.not_zero,
            window_slides=Const(0) if windows is None else windows.slides,
            last_entry=Const(0) if windows is None else windows.last_entry,
            last_count=Const(0) if counter is None else counter.last,
            last_loop=Const(0) if loop is None else loop.last,
            more_moduli=Const(0) if self.current is None else self.current.more,
            borrow=self.borrow,
        )

    def end(self, m: Module, error: Error | Signal) -> None:
        """End the operation with an error; with FAULT the memory is wiped before."""
        m.d.sync += self.code.eq(error)
        m.next = "FAULT" if error is Error.FAULT else "END"
