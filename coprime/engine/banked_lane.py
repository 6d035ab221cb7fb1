"""A lane of two banks of memory, for multipliers that take more than two digits in a cycle."""

from collections.abc import Mapping

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import Out, connect, flipped

from coprime.cells.tables import look_up
from coprime.cells.target import Target
from coprime.cells.wires import same_named
from coprime.multipliers.contract import ModularMultiplier
from coprime.multipliers.delays import past, past_value
from coprime.multipliers.multiplication import Multiplication
from coprime.operations.operation import among
from coprime.program.assembler import Program
from coprime.program.operands import (
    BLINDED_OF,
    DERIVED_FROM,
    SWAPPED_BY_BIT,
    Context,
    Core,
    Mode,
    Operand,
    UpperHalf,
)
from coprime.program.steps import Step, StepKind

from .addresses import BlockAddress
from .bank_access import (
    EXPONENTS,
    INVERSES,
    Blocks,
    PortScheduler,
    ProductAccess,
    StepInBanks,
    is_right,
)
from .contract import Capabilities, Error
from .lane_of_units import LaneOfUnits
from .layout import BankedLayout, Layout
from .linear import LinearOperation
from .pair_ports import PairPorts
from .random_digit import RandomDigit
from .residue import Residue
from .result_check import ResultCheck
from .sequencer.linear_steps import LINEAR_OPERATIONS
from .stream_ports import StreamPorts
from .table_entries import TableEntries
from .write_guard import WriteGuard

_SUMMED = (Core.SUM, Core.SUM_COPY, Operand.X)
_SUMMED_OF_MASKED = (Core.SUM, Core.CLAIMED)
_SUMMED_OF_PAIR = (Core.SUM, UpperHalf.SUM_HIGH, Operand.X, UpperHalf.X_HIGH)
_PORTS = ("a_left", "a_right", "b_left", "b_right")


class BankedLinkSignature(wiring.Signature):
    """Signals from a lane with two banks to the other one.

    Members
    -------
    at_barrier, ends, busy : it waits at a BARRIER; it ends the operation; it is not idle
    at_fault : it has a fault, and waits for the other lane, so that both are wiped
    began, proved : of its `Proof`
    data : what its linear unit writes
    """

    def __init__(self, digit_width: int):
        flags = ("at_barrier", "ends", "busy", "at_fault", "began", "proved")
        super().__init__({**dict.fromkeys(flags, Out(1)), "data": Out(digit_width)})


class BankedLane(LaneOfUnits):
    """A lane whose operands are in two banks, as `BankedLayout` specifies.

    Each bank has a port A, which reads, and a port B, which reads or writes. During products the
    scheduler drives them, by the multiplier's contract. In linear steps port A reads x from its
    bank, and port B of the left bank reads y and writes the result. An exponent is read through
    port A, and the host reads and writes through port B while the engine is idle.

    Raises ValueError for a program that needs more, TypeError for another layout. Parameters and
    members as of `LaneOfUnits`.
    """

    def __init__(
        self,
        capabilities: Capabilities,
        multiplication: Multiplication,
        multiplier: ModularMultiplier | wiring.PureInterface,
        program: Program,
        layout: Layout,
        *,
        leads: bool = True,
        target: Target = Target.GENERIC,
    ):
        if not isinstance(layout, BankedLayout):
            raise TypeError(f"layout must be a BankedLayout, not {layout!r}")
        for step in program.steps:
            if not _keeps_to_banks(step, layout, sums=program.sums):
                raise ValueError(f"operands of {step.note!r} are in the wrong banks")
        self.layout = layout
        self.blocks = blocks = Blocks(layout)
        link = BankedLinkSignature(capabilities.digit_width)
        parts = (capabilities, multiplication, multiplier, program, layout, link)
        super().__init__(*parts, leads=leads, target=target)
        self.scheduler: PortScheduler = PairPorts(multiplier, blocks)
        if multiplication.overlaps:
            keeps = multiplication.keeps_scaled_modulus
            self.scheduler = StreamPorts(
                *(multiplier, blocks, self.counts.modulus),
                keeps_scaled_modulus=keeps,
                beside_sums=self.shares,
            )
        sequencer = self.sequencer
        self.step_numbers = {
            "x": sequencer.x,
            "y": sequencer.y,
            "destination": sequencer.destination,
        }
        self.located = self.step_numbers
        if program.swaps:
            self.located = {
                name: Signal.like(number, name=f"located_{name}")
                for name, number in self.step_numbers.items()
            }
            if self.shares:
                self.task.of_step |= self.located
        columns = self.sequencer.columns if program.scans_columns else None
        assert self.sequencer.windows is not None
        self.entries = TableEntries(program, layout, self.sequencer.windows.value, columns)
        # Optional hardware: each is there or not.
        width = capabilities.digit_width
        checks = program.checks and leads
        self.residue_sum = Residue(width) if checks else None
        self.check = ResultCheck(width, len(self.index), target) if checks else None
        self.random_digit = RandomDigit(width) if program.draws else None
        self.skips = Signal(name="skips") if program.made else Const(0)
        """The step is a MOVE_WRITTEN that has nothing to do."""
        self.waits_for_digit = Signal(name="waits_for_digit")
        """A digit of a DRAW is not there yet."""
        self.spoilt = Signal(name="spoilt") if program.has_parity else None
        """A word that the command has read has another bit than was written."""

    def elaborate(self, platform: object) -> Module:
        """Connect the banks: what each port is asked for, and who gets its data."""
        m = Module()
        multiplies = self.connect_units(m)
        left, right = self.memories
        m.submodules.left, m.submodules.right = left, right
        read = {
            "a_left": left.a_data,
            "a_right": right.a_data,
            "b_left": left.b_data,
            "b_right": right.b_data,
        }
        self._connect_located(m)
        step = self._step()
        product = self.scheduler.connect(m, step, read)
        drawn, suppresses = self._draw(m)
        self._connect_data(m, drawn)
        of_a, of_b = self._share_ports(m, multiplies)
        given = self._write_data(m, of_b)
        m.d.comb += [bank.b_write_data.eq(given) for bank in self.memories]
        self._add_residue(m)
        self._check_result(m)
        if self.program.shortens:
            self._find_short(m)
        self._link_lanes(m)
        m.submodules.guard = guard = WriteGuard(self.program, self.layout)
        blocks, writes = self._blocks(m, of_a, of_b, product, suppresses)
        m.d.comb += [
            guard.works.eq(self.busy & ~self.sequencer.clearing),
            guard.left_address.eq(left.b_address),
            guard.right_address.eq(right.b_address),
            left.b_write.eq(past(m, writes["b_left"], 2) & guard.may_left),
            right.b_write.eq(past(m, writes["b_right"], 2) & guard.may_right),
        ]
        hides = self.program.draws or self.program.blinds_exponents
        idle = self._idle_ports(of_a, of_b, product, writes) if hides else {}
        a_index, b_index = self._indices(m, of_a, of_b, product)
        of_inverse = Mux(product.reads_inverse, self.layout.block - 1, a_index)
        inverse_left = self.layout.inverses_left
        indices = {
            "a_left": of_inverse if inverse_left else a_index,
            "a_right": a_index if inverse_left else of_inverse,
            "b_left": b_index,
            "b_right": b_index,
        }
        entries_a = self.entries.of_port(m, of_a, product, step)
        entries_b = self.entries.of_port(m, of_b, product, step) if self.shares else entries_a
        modes = self.entries.modes
        addresses = (left.a_address, right.a_address, left.b_address, right.b_address)
        for name, to in zip(_PORTS, addresses, strict=True):
            address = BlockAddress(
                self.layout, len(indices[name]), modes.get(name, ()), holds=name in idle
            )
            m.submodules[f"{name}_address"] = address
            if name in idle:
                m.d.comb += address.idle.eq(idle[name])
            m.d.comb += [
                address.block.eq(blocks[name]),
                address.index.eq(indices[name]),
                to.eq(address.address),
            ]
            for entry, block in (entries_b if name.startswith("b") else entries_a).items():
                if entry in address.signature.members:
                    m.d.comb += getattr(address, entry).eq(block)
        return m

    def _connect_located(self, m: Module) -> None:
        """Where the step's numbers lie: one that has changed places with another lies there."""
        if not self.program.swaps:
            return
        numbers = self.layout.numbers
        pairs = sorted(numbers[each] for each in SWAPPED_BY_BIT if each in numbers)
        for name, number in self.step_numbers.items():
            swaps = self.sequencer.swaps & number.matches(*pairs)
            m.d.comb += self.located[name].eq(number ^ Cat(Const(0, 1), swaps))

    @property
    def linear_places(self) -> Mapping[str, Value]:
        """Where the numbers of what the linear unit does lie."""
        if not self.shares:
            return self.located
        return {name: self.task.kept[name] for name in self.located}

    def _step(self) -> StepInBanks:
        """What the scheduler is given of the step."""
        sequencer = self.sequencer
        return StepInBanks(
            kind=sequencer.operation,
            **self.located,
            modulus=sequencer.modulus,
            rounds=sequencer.rounds,
            **self.entries.of_step(sequencer.modulus),
            scans=sequencer.exponent_read,
            index=self.linear.index,
            starts=sequencer.linear,
            uses_a=self.linear.uses_a if self.shares else Const(0),
            uses_b=self.linear.uses_b if self.shares else Const(0),
            suppress_write=sequencer.suppress_write,
            next_bit=sequencer.next_bit,
            by_bit=sequencer.by_bit if self.shares and self.program.swaps else Const(0),
            copies=sequencer.copies if self.program.copies else Const(0),
        )

    def _connect_data(self, m: Module, drawn: Value) -> None:
        """What the ports read goes to the sequencer, to the linear unit, and to the host."""
        left, right = self.memories
        sequencer, linear = self.sequencer, self.linear
        # E lies right, the exponents modulo the primes left, but for blinded ones.
        blinds = self.program.blinds_exponents
        a_data = Signal.like(left.a_data)
        m.d.comb += [
            sequencer.exponent_data.eq(right.a_data if blinds else left.a_data),
            sequencer.exponent_other.eq(right.a_data),
            a_data.eq(left.a_data),
            linear.a_data.eq(a_data),
            linear.a_other.eq(drawn),
            linear.b_data.eq(left.b_data),
            linear.x_is_other.eq(is_right(self.task.x)),
            self.result_digit.eq(left.b_data),
            self.to_other.data.eq(linear.b_write_data),
        ]
        if self.program.sums:
            m.d.comb += [
                linear.b_other.eq(right.b_data),
                linear.z_is_other.eq(is_right(self.task.y)),
            ]
        if StepKind.MAKE_EVEN in self.program.kinds:
            evens = (self.task.kind == StepKind.MAKE_EVEN) & linear.first
            m.d.comb += a_data[0].eq(left.a_data[0] & ~evens)

    def _write_data(self, m: Module, multiplies: Value) -> Value:
        """What ports B write, two cycles after they are asked to.

        The units' digits are there as they are written; the host's come with their index. Which of
        four sources it is takes two bits, and so one LUT for each bit of a digit.
        """
        sequencer, linear, product = self.sequencer, self.linear, self.multiplier.b_write_data
        takes: Value = Const(0)
        if any(step.x is Mode.OTHER for step in self.program.steps):
            takes = self.busy & ~sequencer.clearing & (sequencer.x == self.number(Mode.OTHER))
        late = past_value(m, "late", (multiplies & self.busy) | takes, 2)
        busy = past_value(m, "own", self.busy & ~takes, 2)
        digit = past(m, self.digit, 2)
        if not isinstance(takes, Const):
            product = Mux(busy, product, self.from_other.data)
        return Mux(late, product, Mux(busy, linear.b_write_data, digit))

    def _share_ports(self, m: Module, multiplies: Value) -> tuple[Value, Value]:
        """Whether the ports A, and the ports B, are the multiplier's."""
        if not self.shares:
            return multiplies, multiplies
        self.task.keep(m, self.linear.under_way)
        assert isinstance(self.scheduler, StreamPorts)
        waits = self.waits_for_digit if self.random_digit is not None else Const(0)
        m.d.comb += [
            self.sequencer.conflicts.eq(self.scheduler.conflicts | self.linear.under_way),
            self.linear.hold.eq(waits | self.scheduler.holds),
        ]
        return multiplies & ~self.linear.uses_a, multiplies & ~self.linear.uses_b

    def _find_short(self, m: Module) -> None:
        """Find out whether c of P is 1, of the digits that the host writes: -P^-1, the lowest of c,
        and of P those that c has more, which are all ones then."""
        is_short, ones = self.sequencer.short, list[Value]()
        for index in range(1, self.capabilities.headroom // self.capabilities.digit_width):
            one = Signal(name=f"ones_{index}")
            with m.If(self.write & (self.operand == Operand.P) & (self.index == 0)):
                m.d.sync += one.eq(0)
            with m.If(self.write & (self.operand == Operand.P) & (self.index == index)):
                m.d.sync += one.eq(self.digit.all())
            ones.append(one)
        inverse_is_1 = Signal() if ones else is_short
        is_inverse = self.operand == Operand.P_INVERSE
        with m.If(self.write & is_inverse):
            m.d.sync += inverse_is_1.eq(self.digit == 1)
        if ones:
            m.d.comb += is_short.eq(inverse_is_1 & Cat(ones).all())

    def _link_lanes(self, m: Module) -> None:
        """Show the units' faults to the sequencer, and the lanes' to each other."""
        sequencer = self.sequencer
        if self.program.checks:
            fault: Value = self.multiplier.fault
            if self.spoilt is not None:
                fault |= self.spoilt
            m.d.comb += sequencer.fault.eq(fault)
        if self.program.shares_check:
            other = self.from_other
            m.d.comb += [
                *same_named(self.to_other, sequencer, "busy", "at_fault", "began", "proved"),
                sequencer.other_busy.eq(other.busy),
                sequencer.other_at_fault.eq(other.at_fault),
                sequencer.other_began.eq(other.began),
                sequencer.other_proved.eq(other.proved),
            ]

    def _check_result(self, m: Module) -> None:
        """Compare the result with what was checked, as it is read."""
        if self.check is None:
            return
        left, right = self.memories
        m.submodules.result_check = check = self.check
        is_checked = among(self.command, self.capabilities.with_check)
        differs: Value = check.differs
        if self.spoilt is not None:
            differs |= self.spoilt
            with m.If(self.start):
                m.d.sync += self.spoilt.eq(0)
            # No sum of a program overflows, but of a fault: a scalar whose digits are scanned anew.
            found = {"wrong": left.wrong | right.wrong | self.sequencer.wrong}
            if self.program.sums:
                found["overflows"] = self.linear.overflows
            for name, now in found.items():
                with m.If(past_value(m, name, now, 1)):
                    m.d.sync += self.spoilt.eq(1)
        m.d.comb += [
            check.succeeds.eq(self.done & is_checked & (self.error == Error.NONE)),
            check.ends.eq(self.start),
            *same_named(check, self, "busy", "write", "index"),
            check.count.eq(self.counts.modulus),
            check.read.eq(left.b_data),
            check.checked.eq(right.b_data),
            self.sequencer.differs.eq(differs),
        ]

    def _add_residue(self, m: Module) -> None:
        """S - M, when that is compared, S twice, as it is copied, and X, as the check gets it.

        That is what linear steps make of SUM, SUM_COPY and X from when there is a SUM. Of masked
        numbers it is S - M, S, S + t M and X - t M + 2 (2^V - 1) M, the last of which is 0 modulo
        2^V - 1. Of two numbers, S is the SUM that is copied to the result, and nothing is
        compared.
        """
        if self.residue_sum is None:
            return
        sequencer, linear = self.sequencer, self.linear
        # Other commands may have other numbers in these places.
        task, masks = self.task, Core.CLAIMED in self.layout.numbers
        summed: Value = task.x.matches(
            *(self.number(reference) for reference in (_SUMMED_OF_MASKED if masks else _SUMMED))
        )
        if self.capabilities.on_curve:
            of_pair = task.x.matches(*(self.number(reference) for reference in _SUMMED_OF_PAIR))
            summed = Mux(among(self.command, self.capabilities.on_curve), of_pair, summed)
        makes_sum = sequencer.destination == self.number(Core.SUM)
        if self.shares:  # the next task may be there as the last digit is given
            summed = past_value(m, "summed", summed, 2)
            made = task.destination == self.number(Core.SUM)
            makes_sum |= past_value(m, "made_sum", made, 2)
        m.submodules.residue_sum = residue = self.residue_sum
        m.d.comb += [
            residue.clear.eq(self.start | makes_sum),
            residue.add.eq(linear.gives & summed),
            residue.digit.eq(linear.b_write_data),
            self.residue.eq(residue.residue),
        ]

    def _draw(self, m: Module) -> tuple[Value, Value]:
        """What port A of the right bank reads, or what is drawn; and whether a sum is not written.

        A digit of random bytes is for a digit of a DRAW, or for the bits of some ADD_IF_DRAWN.
        """
        sequencer, linear, right = self.sequencer, self.linear, self.memories[1]
        if self.random_digit is None:
            return right.a_data, Const(0)
        m.submodules.random_digit = drawn = self.random_digit
        connect(m, flipped(self.random), drawn.random)
        draws = Signal()
        m.d.comb += [
            drawn.clear.eq(~self.busy),
            draws.eq(self.task.kind == StepKind.DRAW),
            drawn.wanted.eq(draws & linear.begins),
            drawn.used.eq(draws & linear.begins & drawn.there),
            self.waits_for_digit.eq(draws & ~(linear.begins & drawn.there)),
        ]
        if not self.shares:
            m.d.comb += linear.hold.eq(self.waits_for_digit)
        suppresses = Signal()
        kinds, kind = self.program.kinds, self.task.kind
        if self.program.adds_drawn:
            bit = (drawn.digit >> sequencer.drawn_bit)[0]
            m.d.comb += [
                drawn.wanted.eq((draws & linear.begins) | sequencer.draws),
                drawn.used.eq((draws & linear.begins & drawn.there) | sequencer.spends),
                sequencer.drawn.eq(drawn.there),
            ]
            if StepKind.ADD_IF_DRAWN in kinds:
                m.d.comb += suppresses.eq((kind == StepKind.ADD_IF_DRAWN) & ~bit)
            if StepKind.ADD_OR_SUBTRACT in kinds:
                # The bit is there before the sum begins.
                adds = past_value(m, "adds_drawn", bit, 1)
                with m.If((kind == StepKind.ADD_OR_SUBTRACT) & ~adds):
                    m.d.comb += linear.operation.eq(LinearOperation.SUBTRACT)
        if self.program.made:
            m.d.comb += self.skips.eq(self._skips(m))
            with m.If(self.skips):
                m.d.comb += suppresses.eq(1)
        return Mux(draws, drawn.digit, right.a_data), suppresses

    def _skips(self, m: Module) -> Value:
        """Whether a MOVE_WRITTEN does nothing, as the host has not written that operand.

        One that is read for two numbers counts as written for both until the last one is made; and
        shares of a key are of one modulus.
        """
        task, skips = self.task, Signal()
        moves = task.kind == StepKind.MOVE_WRITTEN
        for made, operands in DERIVED_FROM.items():
            if made not in self.program.made:
                continue
            kept = Signal(name=f"kept_{made.name.removeprefix('BLINDED_').lower()}")
            arrives = task.destination == self.number(made)
            with m.If(self.write & self.operand.matches(*operands)):
                m.d.sync += kept.eq(0)
            with m.Elif(moves & arrives & self.linear.done):
                m.d.sync += kept.eq(1)
            with m.If(moves & (arrives | (task.x == self.number(operands[0])))):
                m.d.comb += skips.eq(kept)
        return skips

    def _operand(self) -> Value:
        """The number of the operand that the host names."""
        held = [operand for operand in Operand if operand < self.capabilities.operand_count]
        numbers = [self.layout.numbers.get(operand, 0) for operand in held]
        return look_up(numbers, self.operand, self.layout.number_bits)

    def _blocks(
        self, m: Module, of_a: Value, of_b: Value, product: ProductAccess, suppresses: Value
    ) -> tuple[dict[str, Signal], dict[str, Signal]]:
        """The block that each port is asked for, and whether the ports B write."""
        sequencer, linear, blocks = self.sequencer, self.linear, self.blocks
        block = {name: Signal(self.layout.block_bits, name=name) for name in _PORTS}
        write = {name: Signal(name=f"write_{name}") for name in ("b_left", "b_right")}
        exponent_right: Value = blocks.of(Operand.E)
        if self.program.blinds_exponents:
            is_e = sequencer.public | (sequencer.modulus == Context.WHOLE)
            of_p, of_q = (blocks.of(BLINDED_OF[context]) for context in (Context.P, Context.Q))
            blinded = Mux(sequencer.modulus == Context.Q, of_q, of_p)
            exponent_right = Mux(is_e, exponent_right, blinded)
        with m.If(sequencer.exponent_read):
            m.d.comb += [
                block["a_left"].eq(blocks.of_context(EXPONENTS, sequencer.modulus)),
                block["a_right"].eq(exponent_right),
            ]
        with m.Elif(of_a):
            m.d.comb += [block["a_left"].eq(product.a_left), block["a_right"].eq(product.a_right)]
        with m.Else():
            x = self.linear_places["x"]
            m.d.comb += [block["a_left"].eq(x), block["a_right"].eq(x)]
            if self.program.sums:
                with m.If(linear.reads_modulus):
                    m.d.comb += block["a_left"].eq(blocks.of(Core.ADDED_MODULUS))
        # The result is read together with what it is compared with.
        assert self.layout.block_of(Core.RESULT) == self.layout.block_of(Core.SUM)
        operand = self._operand()
        # What port B of either bank is asked for, but for what products read.
        given, writes, of_right = Signal.like(block["b_left"]), Signal(), Signal()
        sums = linear.b_write & ~suppresses
        m.d.comb += [
            given.eq(Mux(sums, self.linear_places["destination"], self.linear_places["y"])),
            writes.eq(sums),
            of_right.eq(is_right(self.task.destination)),
        ]
        with m.If(~self.busy):
            m.d.comb += [
                given.eq(Mux(self.write, operand, blocks.of(Core.RESULT))),
                writes.eq(self.write),
                of_right.eq(is_right(operand)),
            ]
        with m.Elif(of_b):
            m.d.comb += [
                given.eq(product.location),
                writes.eq(product.writes),
                of_right.eq(is_right(product.location)),
            ]
        both = sequencer.clearing
        if self.program.copies:
            both |= Mux(of_b, product.copies, self.task.copies) & self.busy
        for name, detour, in_bank in (
            ("b_left", product.b_left, ~of_right | both),
            ("b_right", product.b_right, of_right | both),
        ):
            detours = self.busy & of_b & detour.when
            m.d.comb += [
                block[name].eq(Mux(detours, detour.block, given)),
                write[name].eq(Mux(detours, detour.writes, writes & in_bank)),
            ]
        return block, write

    def _indices(
        self, m: Module, of_a: Value, of_b: Value, product: ProductAccess
    ) -> tuple[Signal, Value]:
        """The digit that the ports A, and the ports B, are asked for.

        An inverse is the last digit of its block. Only a wipe, which takes port B, has an index of
        more bits than a count: the linear unit's is 0 there else, and while it is idle.
        """
        linear, sequencer = self.linear, self.sequencer
        count_bits = self.capabilities.count_bits
        beyond = linear.index[count_bits:]
        a_index, b_index = Signal(count_bits), Signal(count_bits)
        m.d.comb += [a_index.eq(linear.index), b_index.eq(linear.b_index)]
        with m.If(of_a):
            m.d.comb += a_index.eq(product.a_index)
        with m.If(of_b):
            m.d.comb += b_index.eq(product.b_index)
        with m.If(sequencer.exponent_read):
            m.d.comb += a_index.eq(sequencer.exponent_index)
        with m.If(~self.busy):
            m.d.comb += b_index.eq(self.index)
            is_inverse = self._operand().matches(
                *(self.layout.numbers[inverse] for inverse in INVERSES)
            )
            with m.If(self.write & is_inverse):
                m.d.comb += b_index.eq(self.layout.block - 1)
        return a_index, Cat(b_index, beyond)

    def _idle_ports(
        self, of_a: Value, of_b: Value, product: ProductAccess, writes: dict[str, Signal]
    ) -> dict[str, Value]:
        """When a port has nothing to do, by its name; for a lane that blinds, and no other.

        What lies in a port's way is then not read beside what is blinded: the bank in which x or y
        is not has X, a power or an exponent as it is at that address.
        """
        sequencer = self.sequencer
        scans = sequencer.exponent_read
        of_right: Value = Const(1)
        if not self.program.blinds_exponents:
            of_right = sequencer.public | (sequencer.modulus == Context.WHOLE)
        x_right = Mux(scans, of_right, is_right(self.task.x))
        no_left = x_right | self.skips if self.program.made else x_right
        in_product = of_a & ~scans
        left, right, used = writes["b_left"], writes["b_right"], product.takes_part
        y_right: Value = Const(0)
        if self.program.sums:
            y_right = is_right(self.task.y) & ~of_b & ~scans
        reads_modulus = self.linear.reads_modulus if self.program.sums else Const(0)
        scans_alone = scans & ~of_b if self.shares else scans
        in_use = {
            "a_left": in_product | ~no_left | reads_modulus,
            "a_right": Mux(in_product, used["a_right"], x_right),
            "b_left": left | ~(right | scans_alone | y_right | (of_b & ~used["b_left"])),
            "b_right": right | y_right | (of_b & used["b_right"]),
        }
        return {name: self.busy & ~uses for name, uses in in_use.items()}


def _keeps_to_banks(step: Step, layout: BankedLayout, *, sums: bool) -> bool:
    """With `sums` linear steps may have y in either bank. HALF is in none, whatever its number."""
    right = {slot for slot in layout.numbers if layout.lies_right(slot)} - {Mode.HALF}
    if step.copy is not None and (
        step.destination in right
        or step.copy not in right
        or layout.block_of(step.copy) != layout.block_of(step.destination)
    ):
        return False
    if step.kind in LINEAR_OPERATIONS:
        evens = step.kind is StepKind.MAKE_EVEN
        return (sums or step.y not in right) and not (evens and step.x in right)
    if step.kind is StepKind.PREPARE:
        return step.destination not in right
    if step.kind is not StepKind.MULTIPLY:
        return True
    if step.descale and step.destination in right:
        return False
    return step.x not in right and (step.y in right or step.y is step.x)
