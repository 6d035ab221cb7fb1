"""The sequencer: executes a lane's program, step by step."""

from collections.abc import Mapping

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal, Value, ValueLike
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from coprime.cells.luts import select_bit
from coprime.cells.tables import place_table
from coprime.cells.target import Target
from coprime.exponentiators.exponentiation import WINDOWS
from coprime.multipliers.contract import READ_LATENCY
from coprime.program.assembler import Program
from coprime.program.operands import Context, Mode, Reference, Scratch
from coprime.program.steps import (
    COUNTER_BITS,
    EXPONENT_BLINDING_BITS,
    Next,
    StepKind,
)

from .contract import COMMAND_BITS, ERROR_BITS, Capabilities, Command, Error, PerLength

__all__ = ["Sequencer", "divides_evenly"]


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


def divides_evenly(width: int) -> bool:
    """Whether windows of any length divide a digit's bits, and a shift divides by these."""
    return width >= max(WINDOWS) and width.bit_count() == 1


def _less_one(value: Value) -> Value:
    """The value less 1: of few bits, so that synthesis takes no carry chain for it."""
    return Cat(bit ^ ~value[:k].any() for k, bit in enumerate(value))


TRIO = (Scratch.ACCUMULATOR, Scratch.SPARE, Scratch.BASE)
CHANGES = {Mode.NEXT: Scratch.ACCUMULATOR, Mode.NEXT_BASE: Scratch.BASE}
"""What SPARE becomes, by the destination of a multiplication."""


class Sequencer(wiring.Component):
    """Fetches a step, has the multiplier or the linear unit execute it, decides what comes after.

    A MULTIPLY or PREPARE step takes one cycle more than the multiplier; a linear step three more
    than the linear unit; a new digit of the exponent DIGIT_CYCLES; the end of an operation one. See
    `prediction.py`, which counts them.

    A digit that is drawn has a bit for each of DRAWN_BITS additions of multiples of P - 1.

    Parameters
    ----------
    program : Program
    capabilities : Capabilities
    leads : bool
        Of two lanes, the one that ends the operation. The other has no part in a command that its
        program has no entry for.
    numbers : mapping of Reference to int
        What `x`, `y` and `destination` call the operands.
    target : Target
        With XC7 the program memory and the choice of the exponent's bit are of explicit LUTs.

    Members
    -------
    at_barrier : the lane waits at a BARRIER
    other_at_barrier : the other lane does
    other_ends : the other lane ends the operation
    suppress_write : the product under way is not written, since the window is 0; only if `in_place`
    public : it is E that is scanned, whatever the modulus; only if any step does
    exponent_other : a digit of E, which lies in another memory than the other exponents; only if
        `in_place`
    descale : the product under way is to be descaled; only if any step does
    differs : while idle: what is read as the result is not the number that was checked; only if the
        program checks
    draws, drawn : a random digit is asked for before an ADD_DRAWN, and there; these and the next
        two only if there is such a step
    drawn_bit : which of the digit's bits decides
    spends : no bit of the digit is left to be used
    """

    DRAWN_BITS = 16

    DIGIT_CYCLES = READ_LATENCY + 2
    """NEXT_DIGIT, READ_DIGIT, the waiting, TAKE_DIGIT."""

    def __init__(
        self,
        program: Program,
        capabilities: Capabilities,
        *,
        numbers: Mapping[Reference, int],
        leads: bool = True,
        target: Target = Target.GENERIC,
    ):
        self.program = program
        self.target = target
        self._layout = step_layout(program, numbers)
        self._numbers = numbers
        self.capabilities = capabilities
        self.leads = leads
        self.exponent = Signal(capabilities.digit_width, reset_less=True)
        """The digit of the exponent that is scanned; 0 while idle."""
        bits = program.window_bits
        self.window = Signal(bits, reset_less=True) if bits else None
        """The bits of the exponent that name an entry of the table; 0 while idle."""
        self.places = (
            {
                slot: Signal(2, init=slot - Scratch.ACCUMULATOR, name=slot.name.lower())
                for slot in TRIO
            }
            if program.rotates
            else None
        )
        """Which of three slots is which, as they change places; None if only two of them do."""
        slot = self._layout["x"].shape
        count = capabilities.count_bits
        super().__init__(
            {
                "command": In(COMMAND_BITS),
                "start": In(1),
                "busy": Out(1),
                "done": Out(1),
                "error": Out(ERROR_BITS),
                "counts": In(PerLength(count)),
                "lengths": In(PerLength(capabilities.length_bits)),
                # The step under way. `parity` changes as ACCUMULATOR and NEXT change places.
                "x": Out(slot),
                "y": Out(slot),
                "destination": Out(slot),
                "parity": Out(1),
                "modulus": Out(Context),
                "operation": Out(StepKind),
                "inner_digits": Out(count),
                "outer_digits": Out(count),
                "rounds": Out(capabilities.round_count_bits),
                "discards": Out(1),
                # The two units.
                "multiply": Out(1),
                "prepare": Out(1),
                "multiplied": In(1),
                "linear": Out(1),
                "clear": Out(1),
                "clearing": Out(1),
                "linear_done": In(1),
                "borrow": In(1),
                "z_is_zero": In(1),
                "z_is_odd": In(1),
                "z_is_normalized": In(1),
                # The exponent, read through port A while both units are idle.
                "exponent_read": Out(1),
                "exponent_index": Out(count),
                "exponent_data": In(capabilities.digit_width),
                # The other lane.
                "at_barrier": Out(1),
                "other_at_barrier": In(1),
                "other_ends": In(1),
            }
            | ({"descale": Out(1)} if program.descales else {})
            | (
                {"suppress_write": Out(1), "exponent_other": In(capabilities.digit_width)}
                if program.in_place
                else {}
            )
            | ({"public": Out(1)} if StepKind.SCAN_PUBLIC in program.kinds else {})
            | ({"differs": In(1)} if program.checks else {})
            | (
                {
                    "draws": Out(1),
                    "drawn": In(1),
                    "drawn_bit": Out(range(self.DRAWN_BITS)),
                    "spends": Out(1),
                }
                if StepKind.ADD_IF_DRAWN in program.kinds
                else {}
            )
        )

    def elaborate(self, platform: object) -> Module:
        """Program memory, exponent scanner and the state machine."""
        m = Module()
        layout, numbers = self._layout, self._numbers
        words = [layout.const({})] + [
            layout.const(
                {
                    "kind": step.kind,
                    "next": step.next,
                    "destination": numbers[step.destination],
                    "x": numbers[step.x],
                    "y": numbers[step.y],
                    "modulus": step.modulus,
                    "outer": step.outer,
                    "conditional": step.conditional,
                    "target": target,
                    **({"descale": step.descale} if self.program.descales else {}),
                    **(
                        {"even_exponent": step.even_exponent}
                        if self.program.evens_exponents
                        else {}
                    ),
                }
            )
            for step, target in zip(self.program.steps, self.program.targets, strict=True)
        ]
        kinds, nexts = self.program.kinds, self.program.nexts
        multiplies = {StepKind.MULTIPLY, StepKind.PREPARE} & kinds
        finds = [kind for kind in (StepKind.SCAN, StepKind.SCAN_PUBLIC) if kind in kinds]
        scans = {
            *finds,
            StepKind.SCAN_UPWARDS,
            StepKind.SCAN_WINDOWS,
            StepKind.LOAD_COUNTER,
        } & kinds
        pc = Signal(range(len(words)))
        fetched = Signal(layout)
        step = Signal(layout)
        words_as_bits = [word.as_bits() for word in words]
        m.d.comb += fetched.as_value().eq(
            place_table(m, words_as_bits, pc, layout.size, self.target)
        )

        digits = Array(
            [self.counts.modulus, self.counts.p, self.counts.q, Const(0, len(self.counts.p))]
        )
        exponent_digits = Signal.like(self.counts.exponent)
        # The step with what depends on whose turn it is; known before it is under way.
        turn = Signal(Context)
        resolved = Signal(layout)
        m.d.comb += resolved.eq(fetched)
        if self.program.alternates:
            of_q = turn == Context.Q
            has_turn = fetched.modulus == Context.CURRENT
            of_p, of_own_q = (
                {numbers[one] for one in (context.modulus, context.power, context.exponent)}
                for context in (Context.P, Context.Q)
            )
            assert {number | 1 for number in of_p} == of_own_q
            for named, slot in ((fetched.x, resolved.x), (fetched.y, resolved.y)):
                with m.If(has_turn & of_q & named.matches(*of_p)):
                    m.d.comb += slot[0].eq(1)
            with m.If(fetched.destination == numbers[Mode.HALF]):
                half = Mux(of_q, numbers[Scratch.PART], numbers[Scratch.ACCUMULATOR])
                m.d.comb += resolved.destination.eq(half)
            with m.If(has_turn):
                m.d.comb += resolved.modulus.eq(turn)
            with m.If(fetched.outer == Context.CURRENT):
                m.d.comb += resolved.outer.eq(turn)
        scans_e: Value = step.modulus == Context.WHOLE
        if StepKind.SCAN_PUBLIC in kinds:
            scans_e |= step.kind == StepKind.SCAN_PUBLIC
        m.d.comb += [
            self.x.eq(step.x),
            self.y.eq(step.y),
            self.destination.eq(step.destination),
            self.modulus.eq(step.modulus),
            self.operation.eq(step.kind),
            self.inner_digits.eq(digits[step.modulus]),
            self.outer_digits.eq(digits[step.outer]),
            exponent_digits.eq(Mux(scans_e, self.counts.exponent, self.inner_digits)),
        ]
        if self.program.descales:
            m.d.comb += self.descale.eq(step.descale)
        lengths = Array(
            [self.lengths.modulus, self.lengths.p, self.lengths.q, Const(0, len(self.lengths.p))]
        )
        if self.capabilities.round_bits == self.capabilities.digit_width:
            m.d.comb += self.rounds.eq(self.outer_digits)
        else:
            headroom = self.capabilities.headroom
            length = lengths[step.outer]
            m.d.comb += self.rounds.eq(length + headroom if headroom else length)

        # --- The exponent, bit by bit: downwards, or upwards after a SCAN_UP ---------------------
        width = self.capabilities.digit_width
        exponent = self.exponent
        # The index is inverted, so that the register counts up: a carry chain that counts down has
        # an inverter for each bit.
        index_inverted = Signal.like(self.exponent_index, init=-1)
        before_first = Signal.like(self.exponent_index)  # of a scan
        m.d.comb += self.exponent_index.eq(~index_inverted)
        bit_index = Signal(range(width))
        bit = Signal()
        edge_bit = Signal()  # of its digit: the last one to be used
        last_bit = Signal()
        next_bit = Signal()
        take_digit, clears_digit = Signal(), Signal()
        upwards = Signal()
        ahead = Signal.like(self.lengths.modulus)  # upwards: bits to come, with this one

        def scanned(digit: Value) -> Value:
            return select_bit(m, digit, bit_index, self.target)

        exponent_length = Mux(
            step.modulus == Context.WHOLE, self.lengths.exponent, lengths[step.modulus]
        )
        if StepKind.SCAN_UPWARDS in kinds:
            m.d.comb += [
                edge_bit.eq(bit_index == Mux(upwards, width - 1, 0)),
                last_bit.eq(Mux(upwards, ahead == 1, edge_bit & (self.exponent_index == 0))),
            ]
        else:
            m.d.comb += [
                edge_bit.eq(bit_index == 0),
                last_bit.eq(edge_bit & (self.exponent_index == 0)),
            ]
        # Nothing of a private digit is left when idle, nor where a public one is scanned.
        if self.program.in_place and not self.program.blinds_exponents:
            # A register for each memory, so that nothing is between: one of them is 0.
            exponent_of_e = Signal.like(exponent)
            is_e = (step.modulus == Context.WHOLE) | self.public
            m.d.comb += bit.eq(scanned(exponent) | scanned(exponent_of_e))
            for register, digit, is_zero in (
                (exponent, self.exponent_data, is_e),
                (exponent_of_e, self.exponent_other, ~is_e),
            ):
                with m.If(~self.busy | clears_digit | (take_digit & is_zero)):
                    m.d.sync += register.eq(0)
                with m.Elif(take_digit):
                    m.d.sync += register.eq(digit)
        else:
            m.d.comb += bit.eq(scanned(exponent))
            with m.If(~self.busy | clears_digit):
                m.d.sync += exponent.eq(0)
            with m.Elif(take_digit):
                m.d.sync += exponent.eq(self.exponent_data)
        if self.program.evens_exponents:
            with m.If(step.even_exponent & last_bit & (self.command == Command.RSA_PRIVATE)):
                m.d.comb += bit.eq(0)
        with m.If(next_bit):
            if StepKind.SCAN_UPWARDS in kinds:
                m.d.sync += bit_index.eq(bit_index + Mux(upwards, 1, -1))
            else:
                m.d.sync += bit_index.eq(_less_one(bit_index))
            m.d.sync += ahead.eq(ahead - 1)
        m.d.comb += self.discards.eq(step.conditional & ~bit)
        # Windows: the highest bit that the first one has, by the exponent's length; where digits
        # are not even, its place in the digit that the headroom leaves as the highest one, or, if
        # it is below 0, in the next lower one. The modulus's context has been the same for long.
        skipped, unused = divmod(self.capabilities.headroom, width)
        highest = Signal.like(exponent_length)
        top_bit = Signal(range(-unused, width - unused))
        even = divides_evenly(width)
        # Windows of 3 bits do not divide a count's bits: they begin at the top, and the last one is
        # what is left.
        from_the_top = bool(self.program.window_bits & (self.program.window_bits - 1))
        window = self.window
        enters = Signal()
        empties = Signal()
        full: Value = Const(0)
        counts_entries = Next.EACH_ENTRY in nexts
        next_entry = Signal()
        before_last: Value = Const(0)  # the last but one entry of the table
        if window is not None:
            entered = Cat(bit, window)[: len(window)]
            position_bits = (len(window) - 1).bit_length()
            position = bit_index[:position_bits]  # of the bit in its window
            if even:
                m.d.sync += highest.eq((exponent_length - 1) | (len(window) - 1))
            elif StepKind.SCAN_WINDOWS in kinds:
                # In shifts, or synthesis would take a multiplier for it.
                shifts = [k for k in range(width.bit_length()) if width >> k & 1]
                times_width = sum((exponent_digits << k for k in shifts), start=Const(0))
                highest_place = width * (skipped + 1) - 1
                m.d.sync += top_bit.eq(exponent_length - times_width + highest_place)
                position = Signal(position_bits, name="position")
                with m.If(next_bit):
                    m.d.sync += position.eq(position - 1)
            full = ~position.any()
            whole_bits = self.program.whole_window_bits
            if from_the_top:
                first = Mux(step.modulus == Context.WHOLE, whole_bits - 1, len(window) - 1)
                with m.If((step.kind == StepKind.SCAN_WINDOWS) | (next_bit & full)):
                    m.d.sync += position.eq(first)
                full |= last_bit
            elif whole_bits != len(window):
                shorter = ~position[: (whole_bits - 1).bit_length()].any()
                full = Mux(step.modulus == Context.WHOLE, shorter, full)
            forgets = (
                ~self.busy | empties if Next.IF_SLIDING_WINDOW in nexts or not even else ~self.busy
            )
            with m.If(forgets):
                m.d.sync += window.eq(0)
            if counts_entries:
                with m.Elif(self.prepare):
                    m.d.sync += window.eq(1)
            with m.Elif(enters):
                m.d.sync += window.eq(Cat(bit, window))
            if counts_entries:
                with m.Elif(next_entry):
                    m.d.sync += window.eq(window + 1)
                before_last = Mux(
                    step.modulus == Context.WHOLE,
                    window[:whole_bits] == (1 << whole_bits) - 2,
                    window == self.program.last_entry_of(Context.P) - 1,
                )
            if self.program.in_place:
                empty = ~window[:whole_bits].any()
                if whole_bits != len(window):
                    above_whole = window[whole_bits:].any() & (step.modulus != Context.WHOLE)
                    empty &= ~above_whole
                m.d.comb += self.suppress_write.eq((step.y == numbers[Mode.WINDOW]) & empty)
        counter = Signal(COUNTER_BITS, reset_less=True)
        if StepKind.LOAD_COUNTER in kinds:
            with m.If(~self.busy):
                m.d.sync += counter.eq(0)

        # --- Lengths ---------------------------------------------------------------------------
        capabilities = self.capabilities
        shortest = capabilities.digits(capabilities.min_length)
        too_long = Signal()
        m.d.comb += too_long.eq(
            Mux(
                step.modulus == Context.WHOLE,
                self.inner_digits > capabilities.max_digits,
                self.inner_digits > capabilities.max_prime_digits,
            )
        )
        if self.program.blinds_exponents:
            # A blinded exponent is no longer than the modulus.
            longest = self.inner_digits + EXPONENT_BLINDING_BITS // capabilities.digit_width
            with m.If((step.modulus != Context.WHOLE) & (longest > self.counts.modulus)):
                m.d.comb += too_long.eq(1)
        length_error = Signal(ERROR_BITS)
        too_short = self.inner_digits < shortest
        if capabilities.equal_primes:
            too_short |= (step.modulus != Context.WHOLE) & (self.lengths.p != self.lengths.q)
        with m.If(too_short):
            m.d.comb += length_error.eq(Error.LENGTH_ZERO)
        with m.Elif(too_long):
            m.d.comb += length_error.eq(Error.LENGTH_OVER)
        with m.Elif(self.command.matches(Command.MODEXP, Command.RSA_PUBLIC)):
            with m.If(self.counts.exponent == 0):
                m.d.comb += length_error.eq(Error.EXPONENT_LENGTH)
            with m.Elif(self.counts.exponent > capabilities.max_digits):
                m.d.comb += length_error.eq(Error.LENGTH_OVER)
        if self.program.checks:
            none = self.counts.exponent == 0
            over = self.counts.exponent > capabilities.max_prime_digits
            with m.Elif((self.command == Command.RSA_PRIVATE) & (none | over)):
                m.d.comb += length_error.eq(Error.EXPONENT_LENGTH)

        # --- States ----------------------------------------------------------------------------
        forward, jump = Signal(), Signal()
        with m.If(jump):
            m.d.sync += pc.eq(step.target)
        with m.Elif(forward):
            m.d.sync += pc.eq(pc + 1)

        # Bits of an exponent's blinding that have been drawn.
        blinded = Signal(range(EXPONENT_BLINDING_BITS))
        blinds = blinded != EXPONENT_BLINDING_BITS - 1
        if StepKind.ADD_IF_DRAWN in kinds:
            m.d.comb += self.drawn_bit.eq(blinded)

        # An operation that ends without its last check, by whatever fault, has the error FAULT.
        code = Signal(ERROR_BITS)
        m.d.comb += self.error.eq(code)
        if self.program.checks:
            unchecked = Signal()
            with m.If(unchecked & (code == Error.NONE)):
                m.d.comb += self.error.eq(Error.FAULT)

        # What comes after a step that has no part in a scan: whether it is the target.
        takes: dict[Next, ValueLike] = {
            Next.FOLLOWING: 0,
            Next.JUMP: 1,
            Next.OTHER_PRIME: turn == Context.Q,
            Next.JUMP_UNLESS_PRIVATE: self.command != Command.RSA_PRIVATE,
            Next.JUMP_IF_MODMUL: self.command == Command.MODMUL,
            Next.EACH_BLINDING_BIT: blinds,
        }
        plain = [rule for rule in takes if rule in nexts or rule is Next.FOLLOWING]

        def proceed(rule: Next) -> None:
            if rule is not Next.JUMP:
                m.d.comb += forward.eq(1)
            if rule is not Next.FOLLOWING:
                m.d.comb += jump.eq(takes[rule])
                with m.If(Value.cast(takes[rule]) & (step.target == 0)):
                    m.next = "END"
            if rule is Next.OTHER_PRIME:
                m.d.sync += turn.eq(Cat(turn[1], turn[0]))  # P <-> Q
            if rule is Next.EACH_BLINDING_BIT:
                m.d.sync += blinded.eq(Mux(blinds, blinded + 1, 0))
                m.d.comb += self.spends.eq(self.drawn_bit.all() | ~blinds)

        def end(error: Error | Signal) -> None:
            m.d.sync += code.eq(error)
            m.next = "END"

        m.d.comb += self.busy.eq(1)
        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += self.busy.eq(0)
                with m.If(self.start):
                    m.d.sync += code.eq(Error.NONE)
                    private = self.command == Command.RSA_PRIVATE
                    if self.program.checks:
                        m.d.sync += unchecked.eq(private)
                    if self.program.alternates:
                        m.d.sync += turn.eq(Mux(private, Context.Q, Context.WHOLE))
                    m.next = "FETCH"
                    with m.Switch(self.command):
                        for command, entry in self.program.entries.items():
                            with m.Case(command):
                                m.d.sync += pc.eq(entry)
                        with m.Case(Command.WIPE):
                            m.d.comb += self.clear.eq(1)
                            m.next = "WIPE"
                        with m.Default():
                            if self.leads:
                                end(Error.UNSUPPORTED)
                            else:
                                m.next = "IDLE"
                if self.program.checks:
                    with m.Elif(self.differs & (code == Error.NONE)):
                        m.d.sync += code.eq(Error.FAULT)
                        m.next = "FAULT"
            with m.State("FETCH"):
                m.d.sync += step.eq(resolved)
                m.d.comb += [
                    self.multiply.eq(fetched.kind == StepKind.MULTIPLY),
                    self.prepare.eq(fetched.kind == StepKind.PREPARE),
                ]
                with m.Switch(fetched.kind):
                    with m.Case(*multiplies):
                        m.next = "MULTIPLY"
                    with m.Case(*scans):
                        m.next = "SCAN_START"
                    if StepKind.BARRIER in kinds:
                        with m.Case(StepKind.BARRIER):
                            m.next = "BARRIER"
                    if StepKind.BRANCH in kinds:
                        with m.Case(StepKind.BRANCH):
                            m.next = "BRANCH"
                    with m.Default():
                        m.next = "LINEAR_START"
            if StepKind.BARRIER in kinds:
                with m.State("BARRIER"):
                    m.d.comb += self.at_barrier.eq(1)
                    with m.If(self.other_at_barrier):
                        m.d.comb += [jump.eq(step.next == Next.JUMP), forward.eq(1)]
                        m.next = "FETCH"
                        with m.If((step.next == Next.JUMP) & (step.target == 0)):
                            m.next = "IDLE"
                    with m.Elif(self.other_ends):
                        m.next = "IDLE"
            if StepKind.BRANCH in kinds:
                with m.State("BRANCH"):
                    m.d.comb += [forward.eq(bit), jump.eq(~bit)]
                    m.next = "FETCH"
            with m.State("MULTIPLY"), m.If(self.multiplied):
                m.next = "FETCH"
                if self.program.in_place:
                    pass
                elif self.places is None:
                    with m.If((step.destination == numbers[Mode.NEXT]) & ~self.discards):
                        m.d.sync += self.parity.eq(~self.parity)
                else:
                    free = self.places[Scratch.SPARE]
                    for destination, slot in CHANGES.items():
                        with m.If((step.destination == numbers[destination]) & ~self.discards):
                            m.d.sync += [
                                self.places[slot].eq(free),
                                free.eq(self.places[slot]),
                            ]
                with m.Switch(step.next):
                    for rule in plain:
                        with m.Case(rule):
                            proceed(rule)
                    with m.Case(Next.IF_BIT):
                        m.d.comb += [forward.eq(bit), jump.eq(~bit & last_bit)]
                        m.d.comb += next_bit.eq(~bit & ~last_bit)
                    with m.Case(Next.NEXT_BIT):
                        m.d.comb += [forward.eq(last_bit), jump.eq(~last_bit)]
                        m.d.comb += next_bit.eq(~last_bit)
                        if Next.IF_SLIDING_WINDOW in nexts or from_the_top:
                            # Another product, of a public scan, comes before the table.
                            m.d.comb += empties.eq(step.y == numbers[Mode.WINDOW])
                    if window is not None:
                        with m.Case(Next.IF_WINDOW):
                            m.d.comb += [enters.eq(1), forward.eq(full), next_bit.eq(~full)]
                        few = (self.exponent_index == 0) & (bit_index < len(window) - 1)
                        for rule, complete in (
                            (Next.IF_NONZERO_WINDOW, full & entered.any()),
                            (Next.IF_SLIDING_WINDOW, entered[-1] | (bit & few & ~window.any())),
                        ):
                            if rule in nexts:
                                with m.Case(rule):
                                    m.d.comb += [
                                        enters.eq(1),
                                        forward.eq(complete),
                                        jump.eq(~complete & last_bit),
                                        next_bit.eq(~complete & ~last_bit),
                                    ]
                    if counts_entries:
                        with m.Case(Next.EACH_ENTRY):
                            m.d.comb += [next_entry.eq(1), forward.eq(before_last)]
                    if Next.COUNT_DOWN in nexts:
                        with m.Case(Next.COUNT_DOWN):
                            m.d.sync += counter.eq(counter - 1)
                            m.d.comb += [forward.eq(counter == 1), jump.eq(counter != 1)]
                with m.If(next_bit & edge_bit):
                    m.next = "NEXT_DIGIT"
            with m.State("SCAN_START"):
                m.d.comb += before_first.eq(exponent_digits)
                m.d.sync += index_inverted.eq(~before_first)
                if self.program.blinds_exponents:
                    longer = EXPONENT_BLINDING_BITS // width
                    with m.If(~scans_e):
                        m.d.comb += before_first.eq(exponent_digits + longer)
                if StepKind.SCAN_PUBLIC in kinds:
                    m.d.sync += self.public.eq(step.kind == StepKind.SCAN_PUBLIC)
                    m.d.comb += clears_digit.eq(1)  # a public scan sees no private digit
                if StepKind.LOAD_COUNTER in kinds:
                    m.d.sync += counter.eq(0)
                if StepKind.SCAN_WINDOWS in kinds and even:
                    with m.If(step.kind == StepKind.SCAN_WINDOWS):
                        m.d.comb += before_first.eq(highest[bits_for(width - 1) :] + 1)
                if StepKind.SCAN_UPWARDS in kinds:
                    m.d.sync += [
                        upwards.eq(step.kind == StepKind.SCAN_UPWARDS),
                        ahead.eq(exponent_length),
                    ]
                    with m.If(step.kind == StepKind.SCAN_UPWARDS):
                        m.d.comb += before_first.eq(~0)
                m.next = "NEXT_DIGIT"
            with m.State("NEXT_DIGIT"):
                steps = Mux(upwards, Const(-1), Const(1))  # down
                if StepKind.SCAN_WINDOWS in kinds and not even:
                    above = Mux(top_bit < 0, Const(2 + skipped), Const(1 + skipped))
                    steps = Mux(step.kind == StepKind.SCAN_WINDOWS, above, steps)
                m.d.sync += index_inverted.eq(index_inverted + steps)
                m.next = "READ_DIGIT"
            with m.State("READ_DIGIT"):
                m.d.comb += self.exponent_read.eq(1)
                m.next = "WAIT_DIGIT_0"
            for k in range(READ_LATENCY - 1):
                with m.State(f"WAIT_DIGIT_{k}"):
                    m.next = f"WAIT_DIGIT_{k + 1}" if k < READ_LATENCY - 2 else "TAKE_DIGIT"
            with m.State("TAKE_DIGIT"):
                m.d.comb += take_digit.eq(1)
                m.d.sync += bit_index.eq(Mux(upwards, 0, width - 1))
                m.next = "FETCH"
                if finds:
                    with m.If(step.kind.matches(*finds)):
                        m.next = "SCAN"
                if StepKind.LOAD_COUNTER in kinds:
                    with m.If(step.kind == StepKind.LOAD_COUNTER):
                        m.next = "COUNT"
                if StepKind.SCAN_WINDOWS in kinds:
                    with m.If(step.kind == StepKind.SCAN_WINDOWS):
                        if even:
                            m.d.sync += bit_index.eq(highest)
                        else:
                            m.d.sync += bit_index.eq(top_bit + Mux(top_bit < 0, width, 0))
                            if not from_the_top:
                                m.d.sync += position.eq(exponent_length - 1)
                            m.d.comb += empties.eq(1)
                        m.d.comb += forward.eq(1)
                if StepKind.SCAN_UPWARDS in kinds:
                    with m.If(step.kind == StepKind.SCAN_UPWARDS):
                        m.d.comb += forward.eq(1)
            if finds:
                with m.State("SCAN"):
                    m.d.comb += [forward.eq(bit), jump.eq(~bit & last_bit)]
                    m.d.comb += next_bit.eq(~bit & ~last_bit)
                    with m.If(bit | last_bit):
                        m.next = "FETCH"
                    with m.Elif(edge_bit):
                        m.next = "NEXT_DIGIT"
            if StepKind.LOAD_COUNTER in kinds:
                with m.State("COUNT"):
                    counted = Cat(bit, counter)
                    m.d.sync += counter.eq(counted)
                    m.d.comb += next_bit.eq(~last_bit)
                    with m.If(counted[-1]):
                        end(Error.EXPONENT_LENGTH)
                    with m.Elif(last_bit):
                        skips = ~counted.any() & (step.target != 0)
                        m.d.comb += [jump.eq(skips), forward.eq(~skips)]
                        m.next = "FETCH"
                    with m.Elif(edge_bit):
                        m.next = "NEXT_DIGIT"
            with m.State("LINEAR_START"):
                m.d.comb += self.linear.eq(1)
                m.next = "LINEAR"
                with m.If((step.kind == StepKind.CHECK_MODULUS) & (length_error != Error.NONE)):
                    m.d.comb += self.linear.eq(0)
                    end(length_error)
                if StepKind.ADD_IF_DRAWN in kinds:
                    first_of_digit = self.drawn_bit == 0
                    m.d.comb += self.draws.eq((step.kind == StepKind.ADD_IF_DRAWN) & first_of_digit)
                    with m.If(self.draws & ~self.drawn):
                        m.d.comb += self.linear.eq(0)
                        m.next = "LINEAR_START"
            with m.State("LINEAR"), m.If(self.linear_done):
                m.next = "JUDGE"
            with m.State("JUDGE"):
                m.next = "FETCH"
                with m.Switch(step.next):
                    for rule in plain:
                        with m.Case(rule):
                            proceed(rule)
                with m.If((step.kind == StepKind.CHECK_MODULUS) & self.z_is_zero):
                    end(Error.MODULUS_ZERO)
                if self.capabilities.montgomery:
                    with m.Elif((step.kind == StepKind.CHECK_MODULUS) & ~self.z_is_odd):
                        end(Error.MODULUS_EVEN)
                with m.Elif((step.kind == StepKind.CHECK_BELOW) & ~self.borrow):
                    end(Error.OPERAND_RANGE)
                if self.program.checks:
                    with m.Elif((step.kind == StepKind.CHECK_ZERO) & ~self.z_is_zero):
                        m.d.sync += code.eq(Error.FAULT)
                        m.next = "FAULT"
                    with m.Elif((step.kind == StepKind.CHECK_ZERO) & (step.modulus == Context.P)):
                        m.d.sync += unchecked.eq(0)
                if StepKind.CHECK_NORMALIZED in kinds:
                    with m.Elif((step.kind == StepKind.CHECK_NORMALIZED) & ~self.z_is_normalized):
                        end(Error.MODULUS_SHORT)
            if self.program.checks:
                with m.State("FAULT"):
                    m.d.comb += self.clear.eq(1)
                    m.next = "WIPE"
            with m.State("WIPE"):
                m.d.comb += self.clearing.eq(1)
                with m.If(self.linear_done):
                    m.next = "END"
            with m.State("END"):
                m.d.comb += self.done.eq(1)
                m.next = "IDLE"
        return m
