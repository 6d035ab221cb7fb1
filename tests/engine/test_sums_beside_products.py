"""Sums and moves beside products that overlap, on `ring` for a curve, in simulation.

The steps are those of no operation: they take the place of MODMUL's.
"""

import random
from dataclasses import replace
from types import SimpleNamespace

import pytest
from amaranth.sim import Simulator

from coprime.cells.parity_ram import ParityRam
from coprime.cells.tiles import TILES
from coprime.engine.contract import Command, Error, Length, Operand
from coprime.engine.ring import ring
from coprime.engine.sequencer.lane_model import LaneModel
from coprime.engine.sequencer.overlap import OverlapModel
from coprime.engine.sequencer.step_kinds import step_kinds
from coprime.multipliers.ring.multiplication import RingMultiplication
from coprime.operations.banked import Banked
from coprime.operations.encodings.radix import Radix
from coprime.operations.x_multiply import Ladder
from coprime.program.assembler import Program
from coprime.program.operands import Context, Core, Exchanged, Mode
from coprime.program.steps import Next, Step, StepKind
from tests.engine.ports import EnginePorts
from tests.program.steps import PASS, linear, move, multiply, prepare

pytestmark = pytest.mark.matrix

X, Y, E, M = Operand.X, Operand.Y, Operand.E, Operand.M
WHOLE = Context.WHOLE
LEFT = [Exchanged[name] for name in "X_2 X_3 Z_2 Z_3 SUM_2 SUM_3 DIFFERENCE_2 DIFFERENCE_3".split()]
COPIES = {one: Exchanged[f"{one.name}_COPY"] for one in LEFT[-4:]}
RIGHT = [Ladder.A_24, Banked.KEPT_SCALAR, Ladder.U_1, *COPIES.values()]
PLACES = LEFT + RIGHT
"""What the ladder needs at once, so that no two of them share a place."""
KINDS = [StepKind.MULTIPLY, StepKind.ADD, StepKind.SUBTRACT, StepKind.MOVE, StepKind.PASS]
QUICK = [("one17", 1, 64, "0"), ("bal50", 2, 64, "0")]
"""Tile, tiles, bits of the modulus, and words by which q is delayed."""
SLOW = [
    *(("one17", 1, 115, "0"), ("bal50", 1, 146, "0"), ("bal50", 2, 146, "0")),
    *(("adk2x16", 2, 64, "0"), ("adk2x16", 2, 220, "0"), ("kara95", 1, 281, "0")),
    *(("one17", 1, 98, "1"), ("bal50", 1, 146, "1"), ("bal50", 2, 64, "1")),
    *(("adk2x16", 2, 188, "1"), ("kara95", 1, 64, "1"), ("kara95", 1, 281, "1")),
]
SCAN = Step(kind=StepKind.SCAN_WINDOWS, note="the exponent's highest bit")
END = replace(PASS, modulus=WHOLE, next=Next.JUMP, note="the end, once nothing is under way")


def design_for(tile, tiles, bits, delay):
    return ring(bits, tile=tile, tiles=tiles, delay=delay, curves="montgomery")


def with_steps(design, steps):
    """The design, with these steps after its own."""
    (own,), before = design.programs, len(design.programs[0].steps)
    more = Program.assemble({(Command.MODMUL,): steps})
    program = replace(
        own,
        steps=(*own.steps, *more.steps),
        targets=(*own.targets, *(target and target + before for target in more.targets)),
        entries={**own.entries, Command.MODMUL: before + 1},
    )
    design.__dict__["programs"] = [program]


def inputs(design, bits, seed):
    """Operands at random, and their lengths; that of the exponent is of whole windows."""
    generator = random.Random(seed)
    exponent_bits = 4 * generator.randint(8, 16)
    modulus = generator.getrandbits(bits) | 1 << bits - 1 | 1
    operands = {
        **Radix.of(design.capabilities).modulus_operands(modulus, bits),
        **{one: generator.randrange(modulus) for one in (X, Y)},
        E: generator.getrandbits(exponent_bits),
    }
    return operands, {Length.MODULUS: bits, Length.EXPONENT: exponent_bits}


class RandomProgram:
    """Steps at random, and the integers that they leave at each place.

    No result is negative, or too long for the products that take it. `bits` are those of the
    exponent from the one on that the next step sees.
    """

    def __init__(self, design, operands, lengths, seed, count):
        capabilities, multiplication = design.capabilities, design.multiplication
        self.random = random.Random(seed)
        self.multiplication = multiplication
        self.rounds = capabilities.digits(lengths[Length.MODULUS])
        self.bound = 1 << capabilities.digit_width * self.rounds - 1
        self.bits = [operands[E] >> k & 1 for k in reversed(range(lengths[Length.EXPONENT]))]
        scaled = multiplication.scaled_modulus(operands[M])
        self.values = {**operands, Core.SCALED: scaled, Mode.ONE: 1}
        self.recent = []
        self.steps = prepare(multiplication)
        self.add(move(Core.ADDED_MODULUS, Core.SCALED, WHOLE))
        for last, place in zip([X, *PLACES], PLACES, strict=False):
            self.add(linear(StepKind.ADD, place, last, Y, WHOLE, "another number for each place"))
        self.steps.append(SCAN)
        end = len(self.steps) + count
        while len(self.steps) < end:
            self.add(self.draw())
        self.steps.append(replace(END, label=f"step {end}"))

    def pick(self, places):
        """One of these places; more often one that has just been written."""
        recent = [one for one in self.recent[-5:] if one in places]
        return self.random.choice(recent if recent and self.random.random() < 0.5 else places)

    def draw(self):
        """The next step, whose result may be out of range."""
        generator, destination = self.random, self.pick(PLACES)
        (kind,) = generator.choices(KINDS, (8, 5, 3, 3, 1))
        at, x = len(self.steps), self.pick(LEFT if kind is StepKind.MULTIPLY else PLACES)
        if kind is StepKind.PASS:
            step = replace(PASS, modulus=WHOLE)
        elif kind is StepKind.MOVE:
            step = move(destination, x, WHOLE)
        elif kind is not StepKind.MULTIPLY:
            step = linear(kind, destination, x, self.pick(PLACES), WHOLE, "a sum")
            step = replace(step, times_modulus=generator.choice((0, 0, 1, 2, 8)))
        elif generator.random() < 0.1:  # lies left, and has a multiplier far below R
            y = generator.choice((Mode.ONE, Operand.M_POWER))
            step = replace(multiply(self.pick(LEFT), x, y, WHOLE, "descaled"), descale=True)
        else:
            y = x if generator.random() < 0.25 else self.pick(RIGHT)
            step = multiply(destination, x, y, WHOLE, "a product")
        copy = COPIES.get(step.destination)
        if copy not in (None, step.y) and generator.random() < 0.5:
            step = replace(step, copy=copy)
        if len(self.bits) > 1 and generator.random() < (0.5 if kind is StepKind.PASS else 0.2):
            step = replace(step, next=Next.NEXT_BIT, target=f"step {at + 1}")
        by_bit = kind is not StepKind.PASS and generator.random() < 0.5
        return replace(step, by_bit=by_bit, label=f"step {at}")

    def add(self, step):
        """Append a step, and execute it, if its result is in range."""
        executed = step.swapped if step.by_bit and self.bits[0] else step
        if step.kind is not StepKind.PASS:
            value = self.value(executed)
            if not 0 <= value < self.bound:
                return
            written = [executed.destination, executed.copy][: 1 + executed.copies]
            self.values |= dict.fromkeys(written, value)
            self.recent += written
        self.steps.append(step)
        if step.next is Next.NEXT_BIT:
            del self.bits[0]

    def value(self, step):
        x, y = self.values[step.x], self.values[step.y]
        if step.kind is StepKind.MULTIPLY:
            modulus, rounds = self.values[M], self.rounds
            return self.multiplication.product(x, y, modulus, rounds, descale=step.descale)
        sign = {StepKind.ADD: 1, StepKind.SUBTRACT: -1, StepKind.MOVE: 0}[step.kind]
        added = self.values.get(Core.ADDED_MODULUS, 0)
        return x + sign * y + step.times_modulus * added


def predict(design, operands, lengths):
    """The cycles of the lane on integers, and the numbers in its memory."""
    (program,), capabilities = design.programs, design.capabilities
    kinds = {kind: one for one in step_kinds(program, capabilities) for kind in one.kinds}
    parts = program, capabilities, design.multiplication, kinds, design.layout.numbers
    lane = LaneModel(Command.MODMUL, operands, lengths, *parts)
    while lane.pc.address:
        lane.execute()
    return 1 + max(lane.cycles, lane.timeline.idle), lane.values


def simulate(design, operands, lengths, expected):
    """The numbers in the engine's memory, after as many cycles as are expected."""
    ports, layout, capabilities = EnginePorts(design), design.layout, design.capabilities
    engine, digits, found = ports.engine, capabilities.digits(lengths[Length.MODULUS]), {}
    radix = 1 << capabilities.digit_width
    assert digits <= layout.block

    def number(context, place):
        memory, base = engine.lanes[0].memories[layout.lies_right(place)], layout.bases[place]
        data = memory.memory.data if isinstance(memory, ParityRam) else memory.data
        words = [context.get(data[base + k]) & radix - 1 for k in range(digits)]
        return sum(word * radix**k for k, word in enumerate(words))

    async def process(context):
        await ports.load(context, operands, lengths)
        await ports.start(context, Command.MODMUL)
        cycles = 1
        while not context.get(engine.done) and cycles < 2 * expected:
            cycles += 1
            await context.tick()
        assert (Error(context.get(engine.error)), cycles) == (Error.NONE, expected)
        await context.tick()
        found.update((place, number(context, place)) for place in PLACES)

    simulator = Simulator(engine)
    simulator.add_clock(1e-8)
    simulator.add_testbench(process)
    simulator.run()
    return found


@pytest.mark.fuzz(quick=1)
@pytest.mark.covering(2)
@pytest.mark.parametrize(
    ("tile", "tiles", "bits", "delay", "count", "seed"),
    [
        *((*design, 60, 1) for design in QUICK),
        *(
            pytest.param(*design, 150, seed, marks=pytest.mark.fuzz)
            for design in QUICK + SLOW
            for seed in (2, 3, 4)
        ),
    ],
)
def test_random_steps(tile, tiles, bits, delay, count, seed):
    design = design_for(tile, tiles, bits, delay)
    operands, lengths = inputs(design, bits, seed)
    program = RandomProgram(design, operands, lengths, seed, count)
    with_steps(design, program.steps)
    expected, values = predict(design, operands, lengths)
    found = simulate(design, operands, lengths, expected)
    for place in PLACES:
        assert found[place] == values[place] == program.values[place], place


@pytest.mark.parametrize(
    "step",
    [
        move(Core.ADDED_MODULUS, Core.SCALED, WHOLE),
        Step(kind=StepKind.CHECK_POSITIVE, y=Y, note="its destination, X, is not written"),
    ],
    ids=["what is prepared", "a check"],
)
def test_a_linear_step_right_after_a_preparation(step):
    tile, tiles, bits, delay = QUICK[0]
    design = design_for(tile, tiles, bits, delay)
    operands, lengths = inputs(design, bits, seed=5)
    with_steps(design, [*prepare(design.multiplication), step, END])
    expected, _ = predict(design, operands, lengths)
    simulate(design, operands, lengths, expected)


@pytest.mark.matrix(quick=1)
@pytest.mark.parametrize("idle", [23, 33])
def test_digits_that_stay_three_cycles_apart(idle):
    """Moves that begin so late in a product that they go on alone, but not two cycles a digit."""
    bits, places = 281, [Ladder.U_1, Exchanged.SUM_3_COPY, Exchanged.DIFFERENCE_3_COPY]
    design = design_for("kara95", 1, bits, "1")
    operands, lengths = inputs(design, bits, seed=5)
    factors = Ladder.A_24, WHOLE, "a product"
    result = multiply(Exchanged.SUM_2, Exchanged.Z_2, *factors)
    steps = [
        *prepare(design.multiplication),
        *(move(place, X, WHOLE) for place in PLACES),
        *(multiply(place, Exchanged.X_2, *factors) for place in (Exchanged.X_3, Exchanged.Z_2)),
        replace(result, copy=Exchanged.SUM_2_COPY),
        *[replace(PASS, modulus=WHOLE)] * idle,
        *map(move, places, (Exchanged.X_3, Exchanged.X_2, Exchanged.SUM_2), [WHOLE] * 3),
        multiply(Exchanged.DIFFERENCE_2, Exchanged.X_2, Ladder.U_1, WHOLE, "takes the first move"),
        END,
    ]
    with_steps(design, steps)
    simulate(design, operands, lengths, predict(design, operands, lengths)[0])


def product_by_bit():
    """Products that change places by the bit, each before a sum of its result that does not."""
    yield from (move(place, X, WHOLE) for place in PLACES)
    yield SCAN
    for turn in range(30):
        product = multiply(Exchanged.X_2, Core.KEPT_E, Ladder.A_24, WHOLE, "a product")
        yield replace(product, by_bit=True, label=f"turn {turn}")
        total = linear(StepKind.ADD, Exchanged.Z_2, Exchanged.X_2, Core.KEPT_E, WHOLE, "a sum")
        yield replace(total, next=Next.NEXT_BIT, target=f"turn {turn + 1}")
    yield replace(END, label="turn 30")


@pytest.mark.parametrize("seed", range(9))
@pytest.mark.parametrize(("tile", "tiles", "bits", "delay"), QUICK)
def test_what_waits_does_not_depend_on_bits(tile, tiles, bits, delay, seed):
    """Where only some steps change places by the bit: first in a given order, then at random."""
    design = design_for(tile, tiles, bits, delay)
    operands, lengths = inputs(design, bits, seed)
    if seed:
        steps = RandomProgram(design, operands, lengths, seed, 120).steps
    else:
        steps = [*prepare(design.multiplication), *product_by_bit()]
    with_steps(design, steps)
    ones = (1 << lengths[Length.EXPONENT]) - 1
    exponents = (0, ones, ones // 3, ones - ones // 3, ones // 2 + 1, operands[E])
    cycles = {one: predict(design, {**operands, E: one}, lengths)[0] for one in exponents}
    assert len(set(cycles.values())) == 1, cycles


class Handing(OverlapModel):
    """Counts the products that follow beside a sum that is under way."""

    handed = 0

    def _hand_over(self, last, product):
        super()._hand_over(last, product)
        self.handed += last.ends >= product.joins


@pytest.mark.matrix(quick=4)
@pytest.mark.parametrize("tile", ["one17", "adk2x16", "bal50", "kara95"])
@pytest.mark.parametrize("tiles", [1, 2])
@pytest.mark.parametrize("delay", [0, 1])
def test_no_digit_of_a_sum_is_read_before_it_is_written(tile, tiles, delay):
    """A sum that begins in any cycle of a product, and a product of it as early as it can be."""
    cell, places = TILES[tile], [X, Y, *LEFT]
    skew = int(cell.SKEWS and tiles == 1)
    multiplication = RingMultiplication(
        cell.WORD, cell.latency(holds=tiles == 2), tiles, delay, skew, slack=6
    )
    numbers = {place: number for number, place in enumerate(places)}
    first, second, result, other, *_ = LEFT
    handed = 0
    for count in (multiplication.least, 8, 15):
        for offset in range(multiplication.period(count)):
            for x in (other, first):  # which may be a result that is under way
                lane = SimpleNamespace(cycles=0)
                model = Handing(lane, multiplication, numbers)
                for place in (first, second):
                    lane.cycles += 1
                    model.multiply(multiply(place, X, Y, WHOLE, "before"), count, count)
                lane.cycles += 1 + offset
                model.add(linear(StepKind.ADD, result, x, Y, WHOLE, "the sum"), count)
                lane.cycles += 1
                model.multiply(multiply(other, result, result, WHOLE, "its square"), count, count)
                handed += model.handed
    assert handed > 0
