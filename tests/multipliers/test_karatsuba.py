"""The word-pipelined multiplier in simulation: results, cycles, S and q iteration by iteration."""

import random
from dataclasses import dataclass, replace

import pytest
from amaranth.hdl import Fragment, MemoryInstance, Module, Mux, ResetInserter, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In
from amaranth.sim import Simulator
from amaranth.utils import bits_for

from coprime.catalog import family_named
from coprime.cells.block_ram import BlockRam
from coprime.cells.facts import WIDTHS
from coprime.cells.karatsuba_product import KaratsubaProduct
from coprime.cells.target import Target
from coprime.explore.measure import measure_area
from coprime.flow.mapping import map_design
from coprime.flow.verilog import to_verilog
from coprime.multipliers.contract import Role
from coprime.multipliers.karatsuba.multiplication import ADD, ASK, KaratsubaMultiplication
from coprime.multipliers.karatsuba.multiplier import KaratsubaMultiplier
from coprime.multipliers.multiplication import READ_LATENCY
from tests.cells.test_product import ecp5_cells
from tests.netlists import first_difference, xc7_library

RESULT = 4
JUNK = int("A5" * 64, 16)
"""What stands in memory behind an operand, and on ports that are not looked at."""


@dataclass(frozen=True)
class Case:
    """x * y / 2^(w*rounds) modulo m: x and m of `inner` words, y of `rounds`."""

    x: int
    y: int
    m: int
    inner: int
    rounds: int
    is_one: bool = False
    descale: bool = False
    """Scaled, the last round is modulo m; y's last word is 0 then."""


@dataclass
class Outcome:
    result: int
    cycles: int
    slots: list
    """Cycles in which a product entered, counted from the first cycle of the multiplication."""
    q: list
    """Of each iteration."""
    s: list
    """After each iteration."""


def scale(m, width):
    """The multiple of m whose lowest word is -1."""
    return -pow(m, -1, 1 << width) % (1 << width) * m


def iterations(case, width, *, scaled=False):
    """q_i and S_(i+1), by Algorithm 4 in integers; checks what the docstring says of S.

    With `descale`, the q of the last round is met by the words of m in another place: 0 here.
    """
    radix = 1 << width
    m = scale(case.m, width) if scaled else case.m
    inverse = -pow(m, -1, radix) % radix
    assert inverse == 1 or not scaled
    s = 0
    for i in range(case.rounds):
        last = case.descale and i == case.rounds - 1
        if last:
            assert case.y >> width * i == 0
            m, inverse = case.m, -pow(case.m, -1, radix)
        partial = s + case.x * (case.y >> width * i & radix - 1)
        q = partial * inverse % radix
        s, remainder = divmod(partial + q * m, radix)
        assert remainder == 0
        assert s < case.x + m or last
        assert s < radix**case.inner
        yield 0 if last else q, s


@dataclass
class Cycle:
    """What is looked at in every cycle."""

    asks: int
    writes: int
    q: int
    s_word: int


class Bench(wiring.Component):
    """The multiplier, and a memory with a slot for each role and the result."""

    def __init__(self, multiplier):
        self.multiplier = multiplier
        self.slot_bits = multiplier.count_bits
        self.ports = (
            [multiplier, multiplier.other]
            if multiplier.multiplication.interleaved
            else [multiplier]
        )
        self.memories = [
            BlockRam(multiplier.multiplication.digit_width, 8 << self.slot_bits) for _ in self.ports
        ]
        super().__init__({"idle": In(1), "reset": In(1), "blind": In(1)})

    def elaborate(self, platform):
        m = Module()
        m.submodules.multiplier = ResetInserter(self.reset)(self.multiplier)
        for index, (ports, memory) in enumerate(zip(self.ports, self.memories, strict=True)):
            m.submodules[f"memory_{index}"] = memory
            m.d.comb += [
                ports.a_data.eq(Mux(self.blind, 0, memory.a_data)),
                ports.b_data.eq(Mux(self.blind, 0, memory.b_data)),
            ]
            b_slot = Mux(ports.b_multiplier, Role.MULTIPLIER, RESULT) << self.slot_bits
            for port, value in (
                (memory.a_address, (ports.a_role << self.slot_bits) | ports.a_index),
                (memory.b_address, b_slot | ports.b_index),
                (memory.b_write, ports.b_write & ~self.idle),
                (memory.b_write_data, ports.b_write_data),
            ):
                # As in the engine: the port sees it two cycles later; data come in the third.
                asked, found = Signal.like(port), Signal.like(port)
                m.d.sync += [asked.eq(value), found.eq(asked)]
                m.d.comb += port.eq(found)
        return m


class Run:
    """Drives a bench; each method is to be awaited in a test bench."""

    def __init__(self, bench, context, inside):
        self.bench, self.context, self.inside = bench, context, inside
        self.dut = bench.multiplier
        self.before = None
        context.set(bench.idle, 1)

    def store(self, role, value, count, stream=0):
        """Put the words of an operand into a memory, and junk behind it."""
        base, width = role << self.bench.slot_bits, self.dut.multiplication.digit_width
        words = [value >> (width * k) for k in range(count)]
        words += [JUNK] * ((1 << self.bench.slot_bits) - count)
        for index, word in enumerate(words):
            word &= (1 << width) - 1
            self.context.set(self.bench.memories[stream].data[base + index], word)

    def set_lengths(self, inner, rounds, is_one, descale=0):
        if self.dut.multiplication.scaled:
            self.context.set(self.dut.descale, descale)
        for signal, value in (
            (self.dut.inner_digits, inner),
            (self.dut.outer_digits, rounds),
            (self.dut.rounds, rounds),
            (self.dut.multiplier_is_one, is_one),
        ):
            self.context.set(signal, value & ((1 << len(signal)) - 1))

    async def begin(self, command, case, *, together=False):
        """Give `start` or `prepare`: the lengths hold from the next cycle on."""
        context = self.context
        context.set(self.bench.idle, 0)
        for ports in self.bench.ports[: 1 + together]:
            context.set(getattr(ports, command), 1)
        self.set_lengths(JUNK, JUNK, not case.is_one, not case.descale)
        await context.tick()
        for ports in self.bench.ports:
            context.set(getattr(ports, command), 0)
        self.set_lengths(case.inner, case.rounds, case.is_one, case.descale)

    async def finish(self):
        """Watch until `done`, and the cycle behind it."""
        context, dut = self.context, self.dut
        trace, done = [], 0
        while not done:
            assert len(trace) < 100_000
            done = context.get(dut.done)
            trace.append(self.cycle())
            await context.tick()
        trace.append(self.cycle())
        assert not trace[-1].writes
        self.set_lengths(JUNK, JUNK, 1)
        await context.tick().repeat(3)
        context.set(self.bench.idle, 1)
        return trace

    def cycle(self):
        get = self.context.get
        q, s_word = (get(self.inside[name]) for name in ("q", "s_word"))
        writes = sum(get(ports.b_write) for ports in self.bench.ports)
        assert writes < 2
        return Cycle(get(self.dut.multiplying), writes, q, s_word)

    async def prepare(self, *cases):
        """Hand over the moduli, unless they are those before."""
        moduli = [(case.m, case.inner) for case in cases]
        if moduli == self.before:
            return
        self.before = moduli
        for stream, case in enumerate(cases):
            self.store(Role.MODULUS, case.m, case.inner, stream)
            self.store(
                Role.INVERSE, -pow(case.m, -1, 1 << self.dut.multiplication.digit_width), 1, stream
            )
        together = len(cases) == 2
        await self.begin("prepare", cases[0], together=together)
        trace = await self.finish()
        inner = cases[0].inner
        assert len(trace) - 1 == self.dut.multiplication.prepare_cycles(
            inner, **({"together": True} if together else {})
        )
        assert not any(cycle.asks or cycle.writes for cycle in trace)

    def store_factors(self, *cases):
        for stream, case in enumerate(cases):
            self.store(Role.MULTIPLICAND, case.x, case.inner, stream)
            self.store(Role.MULTIPLIER, JUNK if case.is_one else case.y, case.rounds, stream)
            self.store(RESULT, JUNK << 9, case.inner, stream)

    async def multiply(self, *cases):
        """One multiplication, or two together: their outcomes."""
        await self.prepare(*cases)
        self.store_factors(*cases)
        await self.begin("start", cases[0], together=len(cases) == 2)
        return await self.outcome(*cases)

    async def outcome(self, *cases):
        """The rest of a multiplication, with S and q taken out of their registers."""
        dut, width = self.dut, self.dut.multiplication.digit_width
        trace = await self.finish()
        asked = [index for index, cycle in enumerate(trace) if cycle.asks]
        written = [index for index, cycle in enumerate(trace) if cycle.writes]
        inner, rounds = cases[0].inner, cases[0].rounds
        if len(cases) == 1:
            assert written == list(range(len(trace) - 1 - inner, len(trace) - 1))
        else:
            assert len(written) == 2 * inner
        made = ASK + dut.multiplication.latency + ADD + 1
        outcomes = []
        for stream in range(len(cases)):
            q, s, slots = [], [], []
            for i in range(rounds):
                turn = i * len(cases) + stream
                own = asked[turn * inner : (turn + 1) * inner]
                slots += [cycle + ASK for cycle in own]
                values = {trace[cycle + ASK].q for cycle in own}
                assert len(values) == 1, "q changes within an iteration"
                q += values
                words = [trace[cycle + made].s_word for cycle in own]
                s.append(sum(word << (width * j) for j, word in enumerate(words)))
            memory, base = self.bench.memories[stream].data, RESULT << self.bench.slot_bits
            words = [self.context.get(memory[base + index]) for index in range(inner)]
            result = sum(word << (width * j) for j, word in enumerate(words))
            outcomes.append(Outcome(result, len(trace) - 1, slots, q, s))
        return outcomes if len(cases) == 2 else outcomes[0]


def parts(fragment):
    """A fragment and everything below it."""
    yield fragment
    for sub, *_ in fragment.subfragments:
        yield from parts(sub)


def simulate(multiplier, steps):
    """Run `steps(run)`, a coroutine function, on a bench of the multiplier."""
    bench = Bench(multiplier)
    fragment = Fragment.get(bench, None)
    own = {name: sub for sub, name, *_ in fragment.subfragments}["multiplier"]
    registers = {
        signal.name: signal
        for part in parts(own)
        for statement in part.statements.get("sync", ())
        for signal in statement._lhs_signals()
    }

    async def testbench(context):
        run = Run(bench, context, registers)
        run.multiplier_fragment = own
        await steps(run)

    simulator = Simulator(fragment)
    simulator.add_clock(1e-8)
    simulator.add_testbench(testbench)
    simulator.run()


def make(width, words, latency, **settings):
    multiplication = KaratsubaMultiplication(width, latency, **settings)
    return KaratsubaMultiplier(multiplication, words, bits_for(words + 1))


def check(multiplier, cases):
    """Everything that is known of a multiplication; gives the outcomes.

    A pair of cases is two multiplications together.
    """
    outcomes = []

    async def steps(run):
        for case in cases:
            outcomes.append(await run.multiply(*(case if isinstance(case, tuple) else (case,))))

    simulate(multiplier, steps)
    for case, outcome in zip(cases, outcomes, strict=True):
        if isinstance(case, tuple):
            for turn in range(2):
                check_outcome(multiplier, case[turn], outcome[turn], together=True, turn=turn)
        else:
            check_outcome(multiplier, case, outcome)
    return outcomes


def check_outcome(multiplier, case, outcome, *, together=False, turn=0):
    width, timing = multiplier.multiplication.digit_width, multiplier.multiplication
    more = {"descale": True} if case.descale else {}
    model = list(iterations(case, width, scaled=multiplier.multiplication.scaled))
    assert outcome.q == [q for q, _ in model], case
    assert outcome.s == [s for _, s in model], case
    assert outcome.result == model[-1][1], case
    assert outcome.result % case.m == (
        case.x * case.y * pow(2, -width * case.rounds, case.m) % case.m
    ), case
    assert outcome.result == multiplier.multiplication.product(
        case.x, case.y, case.m, case.rounds, **more
    ), case
    m = scale(case.m, width) if multiplier.multiplication.scaled else case.m
    if case.descale and case.y == 1:
        assert outcome.result < 2 * case.m, case
    elif case.descale and case.x <= m + case.m and 4 * case.y < 1 << width * (case.rounds - 1):
        assert 2 * outcome.result < 5 * case.m, case
    elif case.x < 2 * m and case.y < 2 * m < 1 << (width * case.rounds - 1):
        assert outcome.result < 2 * m, case
    if together:
        more["together"] = True
    assert outcome.cycles == multiplier.multiplication.cycles(case.inner, case.rounds, **more), case
    # `inner` slots in a row in each iteration, and the next one begins `period` slots later.
    period = timing.period(case.inner, together=together)
    streams = 2 if together else 1
    assert outcome.slots == [
        timing.loading
        + (i * streams + turn) * period
        + j
        + (timing.descaling if case.descale and i == case.rounds - 1 else 0)
        for i in range(case.rounds)
        for j in range(case.inner)
    ], case
    assert len(outcome.slots) == multiplier.multiplication.products(case.inner, case.rounds), case


SLOW = pytest.mark.matrix

# --- Results ------------------------------------------------------------------------------------

LATENCIES = [
    *((16, 1), (16, 3)),
    *(
        pytest.param(*pair, marks=pytest.mark.matrix)
        for pair in ((16, 2), *((32, k) for k in range(1, 7)), *((64, k) for k in (1, 2, 6, 9)))
    ),
]


def longest(width, words):
    """Bits of the longest modulus: 2^(w*D) is over 4M."""
    return width * words - 2


def edge_moduli(width, words):
    bits = longest(width, words)
    yield (1 << bits) - 1  # all ones
    yield (1 << (bits - 1)) + 1  # sparse
    yield (1 << (width * (words - 1))) + 1  # one bit into the last word
    yield (1 << width) - 1  # -1 in the lowest word, nothing above
    yield 3


def edge_cases(width, words):
    for m in edge_moduli(width, words):
        values = {0, 1, m - 1, m, 2 * m - 1, (1 << m.bit_length()) - 1, 1 << width}
        values = sorted(value for value in values if value < 2 * m)
        for x in values:
            for y in values:
                yield Case(x, y, m, words, words)
            yield Case(x, 1, m, words, words, is_one=True)


@pytest.mark.parametrize(("width", "latency"), LATENCIES)
def test_two_words(width, latency):
    """The fewest words there are: an iteration waits for q at every latency."""
    cases = list(edge_cases(width, 2))
    check(make(width, 2, latency), random.Random(latency).sample(cases, 30) + cases[:10])


@pytest.mark.parametrize(
    ("width", "latency"),
    [
        (16, 1),
        (32, 4),
        *(pytest.param(*one, marks=pytest.mark.matrix) for one in ((16, 3), (64, 6))),
    ],
)
@pytest.mark.parametrize("words", [3, pytest.param(5, marks=pytest.mark.matrix)])
def test_edges(width, latency, words):
    cases = list(edge_cases(width, words))
    check(make(width, words, latency), random.Random(words).sample(cases, 20) + cases[:10])


@pytest.mark.parametrize(("width", "latency"), LATENCIES)
def test_around_the_first_length_without_a_stall(width, latency):
    """One word fewer than q takes, as many, and one more."""
    generator = random.Random(width + latency)
    multiplier = make(width, 2 * latency + 8, latency)
    fewest = multiplier.multiplication.period(2)
    cases = []
    for words in (fewest - 1, fewest, fewest + 1):
        assert (multiplier.multiplication.period(words) == words) == (words >= fewest)
        m = generator.getrandbits(longest(width, words)) | 1 << (longest(width, words) - 1) | 1
        cases.append(Case(2 * m - 1, 2 * m - 1, m, words, words))
        cases.append(Case(generator.randrange(2 * m), generator.randrange(2 * m), m, words, words))
    check(multiplier, cases)


@pytest.mark.parametrize(
    ("width", "latency"),
    [(16, 2), *(pytest.param(*s, marks=pytest.mark.matrix) for s in ((32, 6), (64, 3)))],
)
def test_unequal_word_counts(width, latency):
    """A y of more or fewer words than the modulus: steps 1 and 3 of the CRT decryption."""
    generator = random.Random(12)
    cases = []
    for inner, rounds in ((2, 1), (2, 5), (3, 9), (9, 3), (16, 2), (5, 4), (17, 3), (3, 17)):
        m = generator.getrandbits(longest(width, inner)) | 1
        full = (1 << (width * rounds)) - 1
        cases.append(Case(generator.randrange(m), generator.randrange(full), m, inner, rounds))
        cases.append(Case(2 * m - 1, full, m, inner, rounds))
        cases.append(Case(generator.randrange(2 * m), 1, m, inner, rounds, is_one=True))
    check(make(width, 17, latency), cases)


@pytest.mark.parametrize(
    ("width", "latency", "count"),
    [(16, 3, 1), *(pytest.param(*one, 3, marks=SLOW) for one in ((16, 3), (32, 2), (64, 6)))],
)
def test_largest_sums(width, latency, count):
    """All ones everywhere: the largest products, sums, carries and S, also where S is zero."""
    words = 4
    full = (1 << (width * words)) - 1
    moduli = [full >> 2, (full >> 2) - 2, (full >> 2) ^ ((1 << width) - 2)]
    cases = []
    for m in moduli[:count]:
        upper = m >> width << width
        factors = [2 * m - 1, m, upper, full >> 1 & ~((1 << width) - 1), 1 << (width * words - 2)]
        factors = [x for x in factors if x < 2 * m]
        cases += [Case(x, y, m, words, words) for x in factors for y in (full, *factors)]
    check(make(width, words, latency), cases)


@pytest.mark.parametrize(
    ("width", "latency", "count"),
    [(16, 2, 8), *(pytest.param(*one, 20, marks=SLOW) for one in ((16, 2), (32, 4)))],
)
def test_random_lengths(width, latency, count):
    generator = random.Random(11)
    cases = []
    for _ in range(count):
        words = generator.randrange(2, 16)
        m = generator.getrandbits(longest(width, words)) | 1
        x, y = generator.randrange(2 * m), generator.randrange(2 * m)
        cases.append(Case(x, y, m, words, words))
    check(make(width, 16, latency), cases)


@pytest.mark.parametrize(
    "length", [2, *(pytest.param(length, marks=pytest.mark.matrix) for length in (3, 4))]
)
def test_every_operand(length):
    """Every X, Y < 2M for every odd M of this length, in two words of 16 bits."""
    cases = [
        Case(x, y, m, 2, 2)
        for m in range(1 << (length - 1) | 1, 1 << length, 2)
        for x in range(2 * m)
        for y in range(2 * m)
    ]
    check(make(16, 2, 1), cases)


# --- Scaled, and interleaved --------------------------------------------------------------------

WAYS = [
    pytest.param({"scaled": True}, id="scaled"),
    pytest.param({"interleaved": True}, id="interleaved"),
    pytest.param({"scaled": True, "interleaved": True}, id="both"),
]


def way_cases(generator, width, words, settings, *, moduli=None):
    """Cases with moduli of `words` words, of their scaled form if that is what is worked with."""
    scaled = settings.get("scaled", False)
    own = words - scaled
    fits = [m for m in edge_moduli(width, own) if m % 2 and m.bit_length() <= longest(width, own)]
    for m in moduli or fits:
        bound = 2 * (scale(m, width) if scaled else m)
        values = [0, 1, m - 1, bound - 1, bound // 2, generator.randrange(bound)]
        for x in generator.sample(values, 3):
            for y in generator.sample(values, 3):
                yield Case(x, y, m, words, words)
            yield Case(x, 1, m, words, words, is_one=True)
            if scaled:
                yield Case(x, 1, m, words, words, is_one=True, descale=True)
                y = generator.choice([m - 1, (1 << width * (words - 1)) - 1])
                yield Case(x, y, m, words, words, descale=True)


@pytest.mark.covering(2)
@pytest.mark.parametrize("settings", WAYS)
@pytest.mark.parametrize(
    ("width", "latency", "words"),
    [
        (16, 3, 2),
        *(
            pytest.param(*each, marks=pytest.mark.matrix)
            for each in (
                (16, 1, 3),
                (16, 1, 2),
                (16, 1, 6),
                (16, 3, 6),
                (32, 6, 2),
                (32, 6, 6),
                (64, 9, 3),
                (128, 13, 2),
            )
        ),
    ],
)
def test_ways(settings, width, latency, words):
    """By itself, on the same multiplier two together, and by itself again."""
    generator = random.Random(width + latency + words)
    cases = list(way_cases(generator, width, words, settings))
    singles = generator.sample(cases, 12)
    work = singles[:6]
    if settings.get("interleaved"):
        for _ in range(12):
            first = generator.choice(cases)
            same = [
                case
                for case in cases
                if (case.is_one, case.descale) == (first.is_one, first.descale)
            ]
            work.append((first, generator.choice(same)))
    check(make(width, words, latency, **settings), work + singles[6:])


@pytest.mark.parametrize("settings", WAYS)
@pytest.mark.parametrize(("width", "latency"), [(16, 2), pytest.param(32, 6, marks=SLOW)])
def test_ways_around_the_first_length_without_a_stall(settings, width, latency):
    generator = random.Random(5)
    together = settings.get("interleaved", False)
    multiplier = make(width, 2 * latency + 8, latency, **settings)
    fewest = multiplier.multiplication.period(2, together=together)
    work = []
    for words in (fewest - 1, fewest, fewest + 1):
        cases = list(way_cases(generator, width, words, settings))
        assert (multiplier.multiplication.period(words, together=together) == words) == (
            words >= fewest
        )
        for _ in range(3):
            first = generator.choice(cases)
            same = [c for c in cases if (c.is_one, c.descale) == (first.is_one, first.descale)]
            work.append((first, generator.choice(same)) if together else first)
    check(multiplier, work)


@pytest.mark.parametrize("settings", WAYS)
def test_ways_of_unequal_word_counts(settings):
    """A y of more or fewer words than the modulus: steps 1 and 3 of the CRT decryption."""
    generator = random.Random(12)
    work = []
    for inner, rounds in ((2, 5), (3, 9), (9, 3), (5, 4), (9, 2), (3, 17)):
        pair = []
        for _ in range(2):
            m = generator.getrandbits(longest(16, inner - 1)) | 1
            y = generator.getrandbits(16 * (rounds - 1))
            pair.append(Case(generator.randrange(m), y, m, inner, rounds))
        work.append(tuple(pair) if settings.get("interleaved") else pair[0])
        if settings.get("scaled"):
            leave = tuple(replace(case, descale=True) for case in pair)
            work.append(leave if settings.get("interleaved") else leave[0])
    check(make(16, 17, 3, **settings), work)


@pytest.mark.parametrize("length", [2, pytest.param(3, marks=pytest.mark.matrix)])
def test_every_operand_scaled(length):
    """Every X below M and around 2cM, every Y < M, for every odd M of this length."""
    cases = []
    for m in range(1 << (length - 1) | 1, 1 << length, 2):
        bound = 2 * scale(m, 16)
        for x in (*range(m + 2), *range(bound - 3, bound)):
            cases += [Case(x, y, m, 2, 2, descale=True) for y in range(m)]
            cases += [Case(x, y, m, 2, 2) for y in range(m)]
    check(make(16, 2, 1, scaled=True), cases)


# --- No stall -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("length", "width", "latency", "overhead"),
    [
        # `overhead` is the paper's l, cycles beside the slots less one: 3k + 9 here.
        (512, 16, 3, 18),
        (512, 32, 6, 27),
        (512, 64, 2, 15),
        (1024, 64, 6, 27),
        *(
            pytest.param(*one, marks=pytest.mark.matrix)
            for one in (
                (2048, 64, 9, 36),
                *((1024, 16, 3, 18), (1024, 32, 6, 27)),
                *((2048, 16, 3, 18), (2048, 32, 6, 27), (2048, 64, 6, 27)),
            )
        ),
    ],
)
def test_no_stall_at_the_papers_sizes(length, width, latency, overhead):
    """(d+1)(d+1) + (l+1) cycles, of which (d+1)(d+1) in a row have a product enter."""
    d = length // width
    words = -(-(length + 2) // width)
    assert words == d + 1
    m = random.Random(length).getrandbits(length) | 1 << (length - 1) | 1
    multiplier = make(width, words, latency)
    (outcome,) = check(multiplier, [Case(2 * m - 1, 2 * m - 2, m, words, words)])
    first = outcome.slots[0]
    assert outcome.slots == list(range(first, first + (d + 1) * (d + 1)))
    assert outcome.cycles == (d + 1) * (d + 1) + (overhead + 1)


@pytest.mark.parametrize("latency", range(1, 10))
def test_fewest_words_without_a_stall(latency):
    own = KaratsubaMultiplication(64, latency)
    without = [words for words in range(2, 41) if own.period(words) == words]
    assert without == [*range(2 * latency + 5, 41)]


# --- Products that follow each other ------------------------------------------------------------

SLOTS = 8
"""Numbers in the memory of a chain; of these the last one is another multiplier's result."""
OTHER = SLOTS - 1


@dataclass(frozen=True)
class Link:
    """A product of a chain: slots of its factors, y None for 1, and of its result."""

    x: int
    y: int | None
    result: int


class ChainBench(wiring.Component):
    """The multiplier, and a memory for it as a lane has it: with the numbers of its products."""

    def __init__(self, multiplier):
        self.multiplier = multiplier
        self.count_bits = bits = multiplier.count_bits
        self.memory = BlockRam(multiplier.multiplication.digit_width, 2 * SLOTS << bits)
        slots = ("x", "y", "x_now", "y_now", "result_now")
        super().__init__({**dict.fromkeys(slots, In(range(SLOTS))), "is_one": In(1)})

    def elaborate(self, platform):
        m = Module()
        m.submodules.multiplier, m.submodules.memory = dut, memory = self.multiplier, self.memory
        written = Signal.like(self.result_now)
        with m.If(dut.b_write & (dut.b_index == 0)):
            m.d.sync += written.eq(self.result_now)
        a = Mux(dut.a_of_next, self.x, self.x_now)
        b = Mux(dut.b_index == 0, self.result_now, written)
        b = Mux(dut.b_write, b, self.x)
        b = Mux(dut.b_multiplier, Mux(dut.b_of_next, self.y, self.y_now), b)
        of_modulus = SLOTS + (dut.a_role == Role.INVERSE)
        a = Mux(dut.a_role == Role.MULTIPLICAND, a, of_modulus)
        for port, value in (
            (memory.a_address, (a << self.count_bits) | dut.a_index),
            (memory.b_address, (b << self.count_bits) | dut.b_index),
            (memory.b_write, dut.b_write),
            (memory.b_write_data, dut.b_write_data),
        ):
            asked, found = Signal.like(port), Signal.like(port)
            m.d.sync += [asked.eq(value), found.eq(asked)]
            m.d.comb += port.eq(found)
        m.d.comb += [dut.a_data.eq(memory.a_data), dut.b_data.eq(memory.b_data)]
        m.d.sync += [
            dut.x_is_result.eq(self.x == self.result_now),
            dut.y_is_result.eq((self.y == self.result_now) & ~self.is_one),
            dut.x_is_other.eq(self.x == OTHER),
        ]
        return m


def run_chain(width, latency, inner, rounds, links, seed):
    """The products of a chain, one after another; each result and each cycle is checked."""
    multiplication = KaratsubaMultiplication(width, latency)
    bits = bits_for(max(inner, rounds) + 1)
    dut = KaratsubaMultiplier(multiplication, max(inner, rounds), bits)
    bench = ChainBench(dut)
    generator = random.Random(seed)
    modulus = generator.getrandbits(longest(width, min(inner, rounds))) | 1
    values = [generator.randrange(2 * modulus) for _ in range(SLOTS)]
    inverse = -pow(modulus, -1, 1 << width) % (1 << width)

    async def testbench(context):
        for slot, value in enumerate([*values, modulus, inverse]):
            for k in range(1 << bits):
                word = value >> width * k & (1 << width) - 1
                context.set(bench.memory.data[(slot << bits) + k], word)
        for signal, value in ((dut.inner_digits, inner), (dut.outer_digits, rounds)):
            context.set(signal, value)
        context.set(dut.prepare, 1)
        await context.tick()
        context.set(dut.prepare, 0)
        while not context.get(dut.accepts):
            await context.tick()
        assert context.get(dut.done)
        await context.tick()
        assert not context.get(dut.busy)
        context.set(dut.other_result, values[OTHER] & (1 << width) - 1)
        cycle, asked, left, ends = 0, None, [*links], []
        starts, done = True, 0
        while done < len(links):
            context.set(dut.start, starts)
            accepts, ended = context.get(dut.accepts), context.get(dut.done)
            await context.tick()
            cycle += 1
            if ended:
                ends.append(cycle)
                done += 1
            if accepts:
                context.set(bench.x_now, asked.x)
                context.set(bench.y_now, asked.y or 0)
                context.set(bench.result_now, asked.result)
            if starts:  # the sequencer has the step from here on
                asked = left.pop(0)
                context.set(bench.x, asked.x)
                context.set(bench.y, asked.y or 0)
                context.set(bench.is_one, asked.y is None)
                context.set(dut.multiplier_is_one, asked.y is None)
            starts = bool(accepts and left)
        assert not context.get(dut.busy)
        first = multiplication.cycles(inner, rounds) + 1
        following = multiplication.chained_cycles(inner, rounds)
        assert ends == [first + k * following for k in range(len(links))]
        await context.tick().repeat(3)
        radix = 1 << width * rounds
        for link in links:
            y = 1 if link.y is None else values[link.y] % radix
            values[link.result] = multiplication.product(values[link.x], y, modulus, rounds)
        for slot, value in enumerate(values):
            words = [context.get(bench.memory.data[(slot << bits) + k]) for k in range(inner)]
            assert sum(word << width * k for k, word in enumerate(words)) == value, slot

    simulator = Simulator(bench)
    simulator.add_clock(1e-8)
    simulator.add_testbench(testbench)
    simulator.run()


def some_links(generator, count):
    """Factors that are the last result, or others, or 1; results in their place, or others'."""
    links = []
    for _ in range(count):
        last = [links[-1].result] * 4 if links else []
        x = generator.choice([*range(SLOTS), *last])
        y = generator.choice([None, *range(SLOTS - 1), *last])
        links.append(Link(x, y, generator.randrange(SLOTS - 1)))
    return links


@pytest.mark.matrix(quick=2)
@pytest.mark.parametrize("words", [2, 3, 8, 11, 12, 15, 16, 20])
@pytest.mark.parametrize("latency", [1, 2, 3])
def test_chains(latency, words):
    """Fewer words than q takes, as many, and so many that no slot is lost."""
    generator = random.Random(100 * latency + words)
    run_chain(16, latency, words, words, some_links(generator, 12), words)


@pytest.mark.matrix
@pytest.mark.parametrize("latency", [1, 2, 3, 4, 6, 9])
def test_chains_of_every_length(latency):
    """Around each length at which the schedule is another one, and of other lengths of Y."""
    generator = random.Random(latency)
    width = 16 if latency <= 3 else 32 if latency <= 6 else 64
    least = KaratsubaMultiplication(width, latency).succession(2)
    for words in (2, 2 * latency + 4, 2 * latency + 5, least - 4, least - 1, least, least + 2):
        run_chain(width, latency, words, words, some_links(generator, 8), words)
        other = generator.randrange(2, words + 1)
        for lengths in ((words, other), (other, words)):
            run_chain(width, latency, *lengths, some_links(generator, 6), words)


@pytest.mark.parametrize(
    ("length", "width", "latency", "more"),
    [
        *((512, 16, 3, 0), (512, 32, 6, 7)),
        *((1024, 16, 3, 0), (1024, 32, 6, 0), (1024, 64, 6, 7), (1024, 64, 3, 0)),
        *((2048, 16, 3, 0), (2048, 32, 6, 0), (2048, 64, 6, 0)),
    ],
)
def test_a_chain_takes_no_more_than_the_paper_says(length, width, latency, more):
    """(d+1)(d+1) + (l+1), with l the latency of a product."""
    d = length // width
    own = KaratsubaMultiplication(width, latency)
    assert own.chained_cycles(d + 1, d + 1) == (d + 1) ** 2 + more <= (d + 1) ** 2 + latency + 1


@pytest.mark.parametrize("latency", range(1, 14))
def test_where_a_chain_takes_more(latency):
    """Of few words, with a latency of 3 or less."""
    own = KaratsubaMultiplication(64, latency)
    fewest = 2 * latency + 5
    more = [
        words
        for words in range(fewest, 60)
        if own.chained_cycles(words, words) > words**2 + latency + 1
    ]
    assert more == {1: [7, 8], 2: [9], 3: [11]}.get(latency, [])


# --- Orders of commands -------------------------------------------------------------------------


def random_case(generator, width, inner, rounds=None):
    m = generator.getrandbits(longest(width, inner)) | 1
    rounds = inner if rounds is None else rounds
    y = generator.getrandbits(width * rounds)
    return Case(generator.randrange(2 * m), y, m, inner, rounds)


def test_moduli_change():
    """Each modulus after a longer one, and after a shorter one; several products with each."""
    generator = random.Random(7)
    moduli = [random_case(generator, 32, inner).m for inner in (9, 2, 5, 3, 9)]
    cases = [
        Case(generator.randrange(2 * m), generator.randrange(2 * m), m, inner, inner)
        for m, inner in zip(moduli, (9, 2, 5, 3, 9), strict=True)
        for _ in range(2)
    ]
    check(make(32, 9, 3), cases)


@pytest.mark.parametrize(
    ("width", "latency", "inner"),
    [(16, 3, 9), (64, 9, 2), *(pytest.param(*one, marks=SLOW) for one in ((16, 3, 2), (64, 9, 9)))],
)
def test_one_multiplication_right_after_the_other(width, latency, inner):
    """`start` in the first idle cycle, while nothing in the pipelines has been forgotten."""
    generator = random.Random(width + inner)
    multiplier = make(width, 9, latency)
    case = random_case(generator, width, inner)

    async def steps(run):
        await run.prepare(case)
        run.store_factors(case)
        context, dut = run.context, run.dut
        for _ in range(4):
            await run.begin("start", case)
            cycles = 1
            while not context.get(dut.done):
                cycles += 1
                await context.tick()
            assert cycles == dut.multiplication.cycles(case.inner, case.rounds)
            await context.tick()
        await run.begin("start", case)
        outcome = await run.outcome(case)
        assert outcome.result == list(iterations(case, width))[-1][1]

    simulate(multiplier, steps)


async def reset(run):
    context = run.context
    context.set(run.bench.idle, 1)
    context.set(run.bench.reset, 1)
    await context.tick()
    context.set(run.bench.reset, 0)


@pytest.mark.parametrize("step", [3, pytest.param(1, marks=SLOW)])
@pytest.mark.parametrize("command", ["start", "prepare"])
def test_nothing_is_done_after_a_reset(command, step):
    """What was on its way is neither written nor reported."""
    multiplier = make(16, 5, 3)
    case = random_case(random.Random(2), 16, 5)
    cycles = {
        "start": multiplier.multiplication.cycles(5, 5),
        "prepare": multiplier.multiplication.prepare_cycles(5),
    }[command]

    async def steps(run):
        context, dut = run.context, run.dut
        for pause in range(1, cycles + 2, step):
            await run.prepare(case)
            run.store_factors(case)
            await run.begin(command, case)
            await context.tick().repeat(pause)
            await reset(run)
            for _ in range(30):
                assert not context.get(dut.b_write)
                assert not context.get(dut.done)
                await context.tick()
            run.before = None

    simulate(multiplier, steps)


@pytest.mark.parametrize(
    ("width", "latency", "inner"),
    [(16, 1, 2), *(pytest.param(*one, marks=SLOW) for one in ((16, 3, 2), (64, 9, 2)))],
)
def test_reset_in_the_middle(width, latency, inner):
    """Another command as soon as a register's reset lets go, at any moment of a multiplication."""
    generator = random.Random(3)
    multiplier = make(width, inner, latency)
    cycles = multiplier.multiplication.cycles(inner, inner)

    async def steps(run):
        context = run.context
        for pause in range(1, cycles + 2):
            before, after = (random_case(generator, width, inner) for _ in range(2))
            await run.prepare(before)
            run.store_factors(before)
            await run.begin("start", before)
            await context.tick().repeat(pause)
            await reset(run)
            run.before = None
            outcome = await run.multiply(after)  # it begins at once
            assert outcome.result == list(iterations(after, width))[-1][1], pause

    simulate(multiplier, steps)


# --- Wiping -------------------------------------------------------------------------------------


def left_over(run):
    """Every register and word of memory in the multiplier, and in its parts, that is not zero."""
    context, found = run.context, {}
    for part in parts(run.multiplier_fragment):
        if isinstance(part, MemoryInstance):
            for address in range(part._data.depth):
                if value := context.get(part._data[address]):
                    found[f"memory[{address}]"] = value
        for domain, statements in part.statements.items():
            if domain != "comb":
                for signal in statements._lhs_signals():
                    if value := context.get(signal.as_unsigned()):
                        found[signal.name] = value
    return found


async def wiped(run):
    """Give `wipe`; the memory holds operands for a while still, as it does in the engine."""
    context, dut = run.context, run.dut
    run.set_lengths(0, 0, 0)
    context.set(dut.wipe, 1)
    await context.tick()
    context.set(dut.wipe, 0)
    await context.tick().repeat(50)
    assert left_over(run)  # of the memory
    context.set(run.bench.blind, 1)
    await context.tick().repeat(READ_LATENCY + dut.multiplication.latency + 5)
    assert left_over(run) == {}
    context.set(run.bench.blind, 0)
    run.before = None


@pytest.mark.parametrize("settings", WAYS)
def test_wipe_of_two_together(settings):
    """Whatever there is a second register of."""
    generator = random.Random(6)
    multiplier = make(16, 4, 3, **settings)
    cases = [
        random_case(generator, 16, 3)
        for _ in range(2 if multiplier.multiplication.interleaved else 1)
    ]
    cases = [replace(case, inner=4, rounds=4) for case in cases]

    async def steps(run):
        for _ in range(2):
            await run.multiply(*cases)
            assert len(left_over(run)) > 20
            await wiped(run)

    simulate(multiplier, steps)


@pytest.mark.parametrize(
    ("settings", "step"),
    [
        pytest.param(*WAYS[2].values, 3, id="both"),
        *(pytest.param(*one.values, 1, id=f"{one.id}, all", marks=SLOW) for one in WAYS),
    ],
)
def test_ways_reset_in_the_middle(settings, step):
    """Another command as soon as a register's reset lets go, at any moment, or at every third."""
    generator = random.Random(3)
    multiplier = make(16, 3, 2, **settings)
    together = multiplier.multiplication.interleaved
    cycles = multiplier.multiplication.cycles(3, 3, together=together)

    def some():
        cases = [random_case(generator, 16, 2) for _ in range(1 + together)]
        return [replace(case, inner=3, rounds=3) for case in cases]

    async def steps(run):
        for pause in range(1, cycles + 2, step):
            before, after = some(), some()
            await run.prepare(*before)
            run.store_factors(*before)
            await run.begin("start", before[0], together=together)
            await run.context.tick().repeat(pause)
            await reset(run)
            run.before = None
            outcomes = await run.multiply(*after)  # it begins at once
            for case, outcome in zip(after, outcomes if together else [outcomes], strict=True):
                model = list(iterations(case, 16, scaled=multiplier.multiplication.scaled))
                assert outcome.result == model[-1][1], pause

    simulate(multiplier, steps)


@pytest.mark.parametrize(
    ("width", "latency", "words"), [(16, 3, 5), pytest.param(64, 9, 2, marks=SLOW)]
)
def test_wipe(width, latency, words):
    """It forgets every operand, and works on afterwards."""
    case = random_case(random.Random(1), width, words)

    async def steps(run):
        for _ in range(2):
            outcome = await run.multiply(case)
            assert outcome.result == list(iterations(case, width))[-1][1]
            assert len(left_over(run)) > 20
            await wiped(run)

    simulate(make(width, words, latency), steps)


@pytest.mark.parametrize(
    ("width", "latency", "words"),
    [
        (16, 3, 2),
        *(pytest.param(*one, marks=SLOW) for one in ((16, 3, 5), (16, 1, 7), (64, 9, 2))),
    ],
)
def test_wipe_after_a_reset_in_the_middle(width, latency, words):
    """A reset leaves the memories and what is on its way to them; a wipe does not."""
    generator = random.Random(4)
    multiplier = make(width, words, latency)

    async def steps(run):
        context, dut = run.context, run.dut
        last = dut.multiplication.cycles(words, words)
        for pause in range(max(1, last - 40), last + 2):
            case = random_case(generator, width, words)
            await run.prepare(case)
            run.store_factors(case)
            await run.begin("start", case)
            await context.tick().repeat(pause)
            await reset(run)
            await wiped(run)

    simulate(multiplier, steps)


# --- Parameters and area ------------------------------------------------------------------------


@pytest.mark.parametrize("latency", [0, -1])
def test_refused_latency(latency):
    with pytest.raises(ValueError, match=f"latency must be at least 1, not {latency}"):
        make(16, 4, latency)


def test_cycles_are_composed():
    for width in WIDTHS:
        for latency in range(1, KaratsubaProduct.most(width) + 1):
            own = KaratsubaMultiplication(width, latency)
            for words in range(2 * latency + 5, 41):
                assert own.cycles(words, words) == words**2 + 3 * latency + 10


# Random words and commands; 3 words, and 4 rounds: the first iterations are those of any length.
GUARD = """
module coprime_{name} (input clk, rst, input [9:0] command, input [{top}:0] a_data, b_data,
                       output done, multiplying, b_write, b_multiplier, output [1:0] a_role,
                       output [4:0] a_index, b_index, output [{top}:0] b_write_data);
  {inner} inner (
    .clk(clk), .rst(rst), .a_data(a_data), .b_data(b_data), .done(done), .multiplying(multiplying),
    .b_write(b_write), .b_multiplier(b_multiplier), .a_role(a_role), .a_index(a_index),
    .b_index(b_index), .b_write_data(b_write_data), .start(command[0]), .prepare(&command[2:1]),
    .wipe(&command[8:3]), .multiplier_is_one(1'b0), .inner_digits(5'd3), .outer_digits(5'd4),
    {descale}.rounds(5'd4));
endmodule
"""


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("target", "width", "latency", "scaled"),
    [
        (Target.XC7, 16, 2, False),
        (Target.XC7, 32, 6, False),
        (Target.XC7, 64, 6, False),
        (Target.XC7, 32, 4, True),
        (Target.ECP5, 16, 2, False),
        (Target.ECP5, 32, 6, False),
        (Target.ECP5, 16, 3, True),
    ],
)
def test_mapped_netlist_agrees_with_twin(target, width, latency, scaled):
    descale = ".descale(command[9]), " if scaled else ""

    def guarded(name, inner, text):
        return GUARD.format(name=name, inner=inner, top=width - 1, descale=descale) + text

    twin, real = (
        KaratsubaMultiplier(KaratsubaMultiplication(width, latency, scaled), 16, 5, one)
        for one in (Target.GENERIC, target)
    )
    gold = guarded("gold", "coprime_twin", to_verilog(twin, "coprime_twin"))
    mapped = map_design(target, real, "coprime_mapped")
    assert mapped.dsp == (2 if scaled else 3) * KaratsubaProduct.dsp_slices(width)
    cells = xc7_library() if target is Target.XC7 else ecp5_cells()
    inputs = {"command": 10, "a_data": width, "b_data": width}
    outputs = {"done": 1, "multiplying": 1, "b_write": 1, "b_multiplier": 1}
    outputs |= {"a_role": 2, "a_index": 5, "b_index": 5, "b_write_data": width}
    gate = guarded("gate", "coprime_mapped", mapped.netlist + cells)
    assert first_difference(gold, gate, inputs, outputs, cycles=50_000) is None


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("part", "width", "scaled", "most"),
    [
        ("multiplier", 16, 0, 7),
        ("multiplier", 16, 1, 2),
        ("multiplier", 32, 0, 13),
        ("multiplier", 64, 0, 27),
        ("multiplier", 64, 1, 18),
        ("engine", 16, 0, 14),
        ("engine", 32, 0, 26),
        ("engine", 64, 0, 54),
        ("engine", 64, 1, 36),
    ],
)
def test_dsp_slices(part, width, scaled, most):
    """No more than in the paper's tables 1 and 2; all of them in the three products, or two."""
    choice = family_named("karatsuba").choose(
        {"word": str(width), "multipliers": "2", "scaled": str(scaled)}
    )
    area = measure_area(choice, Target.XC7, part=part)
    products = (2 if scaled else 3) * (2 if part == "engine" else 1)
    assert area.dsp == products * KaratsubaProduct.dsp_slices(width) <= most
