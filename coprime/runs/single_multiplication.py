"""What a part of an engine does alone, such as one multiplication: its operands, its cycles.

The simulation is Amaranth's own; a memory in Python answers the multiplier as the engine's does.
"""

import math
import random
import sys
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from amaranth.lib.wiring import Component
from amaranth.sim import Simulator, SimulatorContext

from coprime.catalog import Choice
from coprime.engine.contract import Capabilities
from coprime.engine.design import Design, EngineDesign
from coprime.fixed_modulus.fixed_design import FixedModulusDesign
from coprime.flow.part_names import ALONE, MULTIPLICATION, WORDS
from coprime.flow.parts import check_part
from coprime.multipliers.contract import ModularMultiplier, Role
from coprime.multipliers.multiplication import READ_LATENCY

Testbench = Callable[[SimulatorContext], Awaitable[None]]
_WORDS = {ALONE[part]: words for part, words in WORDS.items()}


@dataclass(frozen=True)
class MultiplicationRun:
    """One multiplication."""

    cycles: int  # from start to done, loading and unloading of the operands' digits included
    products: int
    """Cycles of these in which a product that the algorithm needs enters the multiplier."""
    right: bool = True  # whether the result is that of Python's integers


@dataclass(frozen=True, kw_only=True)
class PartRun:
    """What a part did alone; field names are those of `coprime run --json`."""

    family: str
    parameters: Mapping[str, int | str]
    operation: str  # one of ALONE's
    bits: int
    seed: int
    cycles: int
    predicted_cycles: int
    utilization: float
    ok: bool  # whether the result is that of Python's integers

    def record(self) -> dict[str, object]:
        """The fields as JSON has them."""
        return self.__dict__ | {"parameters": dict(self.parameters)}


def run_alone(choice: Choice, operation: str, bits: int, seed: int) -> PartRun:
    """Simulate an operation of ALONE, and predict its cycles.

    Raises ValueError for a part that the design does not have, and as `simulate_multiplication`.
    """
    (part,) = (part for part, name in ALONE.items() if name == operation)
    check_part(choice, part)
    predicted = predict_multiplication(choice.design, bits, operation)
    done = simulate_multiplication(choice.design, bits, seed, operation)
    return PartRun(
        family=choice.family.name,
        parameters=choice.values,
        operation=operation,
        bits=bits,
        seed=seed,
        cycles=done.cycles,
        predicted_cycles=predicted.cycles,
        utilization=done.products / done.cycles,
        ok=done.right,
    )


def predict_multiplication(
    design: Design, bits: int, operation: str = MULTIPLICATION
) -> MultiplicationRun:
    """What the multiplier's model says of operands of `bits` bits; `operation` is one of ALONE's.

    Raises ValueError for a length that the design does not take.
    """
    digits, rounds = _lengths(design.capabilities, bits)
    if operation in _WORDS:
        return MultiplicationRun(1, 1)
    if isinstance(design, FixedModulusDesign):
        return MultiplicationRun(design.exponentiation.product_cycles, 1)
    assert isinstance(design, EngineDesign)
    multiplication = design.multiplication
    return MultiplicationRun(
        multiplication.cycles(digits, rounds), multiplication.products(digits, rounds)
    )


def simulate_multiplication(
    design: Design, bits: int, seed: int, operation: str = MULTIPLICATION
) -> MultiplicationRun:
    """Multiply two numbers below a modulus of `bits` bits, all drawn from a seed.

    `operation` is one of ALONE's: one on words takes words, whatever the modulus is.

    Raises ValueError for a length that the design does not take.
    """
    capabilities = design.capabilities
    digits, rounds = _lengths(capabilities, bits)
    generator = random.Random(seed)
    if isinstance(design, FixedModulusDesign):
        return _simulate_product(design, generator, _WORDS.get(operation))
    m = generator.getrandbits(bits) | 1 << (bits - 1) | 1
    x, y = generator.randrange(m), generator.randrange(m)

    width = capabilities.digit_width
    shift = digits * width - bits if capabilities.aligned else 0
    operands = {Role.MULTIPLICAND: x, Role.MULTIPLIER: y, Role.MODULUS: m}
    memory = {
        (role, index): value << shift >> width * index & (1 << width) - 1
        for role, value in operands.items()
        for index in range(digits)
    }
    memory[Role.INVERSE, 0] = -pow(m, -1, 1 << width) % (1 << width)

    assert isinstance(design, EngineDesign)
    if design.multiplication.banked:
        raise ValueError(
            f"a multiplication of {capabilities.family} is measured in its engine only"
        )
    multiplier = design.multiplier_hardware()
    bench = _Bench(multiplier, memory, digits, rounds)
    _simulate(multiplier, bench.run)

    value = sum(digit << width * index for index, digit in bench.result.items()) >> shift
    expected = x * y * pow(2, -capabilities.radix_bits * rounds, m) % m
    modulus = memory[Role.INVERSE, 0] * m if design.multiplication.scaled else m
    bound = m if design.multiplication.canonical else 2 * modulus
    right = value < bound and value % m == expected
    return MultiplicationRun(bench.cycles, bench.products, right)


def _simulate_product(
    design: FixedModulusDesign, generator: random.Random, words: int | None
) -> MultiplicationRun:
    """Count the cycles from the registers before a product, or words, to the register after it."""
    multiple = design.arithmetic.multiple
    product = design.reduction_hardware(words) if words else design.multiplier_hardware()
    ports = [getattr(product, name) for name in ("x", "y")[: words or 2]]
    bound = 1 << design.word if words else multiple
    expected = 0
    while not expected:  # 0 could not be distinguished from what was there before
        factors = [generator.randrange(1, bound) for _ in ports]
        expected = math.prod(factors) % multiple
    cycles, value = 0, 0

    async def run(context: SimulatorContext) -> None:
        nonlocal cycles, value
        # The registers' first contents may be anything.
        await context.tick().repeat(product.latency)
        for port, factor in zip(ports, factors, strict=True):
            context.set(port, factor)
        await context.tick()
        context.set(ports[0], 0)  # all other products are 0
        while not value and cycles <= product.latency:
            await context.tick()
            cycles, value = cycles + 1, context.get(product.result)

    _simulate(product, run)
    return MultiplicationRun(cycles, 1, value == expected)


def _simulate(component: Component, testbench: Testbench) -> None:
    """Simulate until the testbench ends.

    Amaranth's simulator is a program in Python, whose constants are in decimal: those of the tree
    for a product of 127 bits have more digits than Python reads by default.
    """
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        simulator = Simulator(component)
        simulator.add_clock(1e-8)
        simulator.add_testbench(testbench)
        simulator.run()
    finally:
        sys.set_int_max_str_digits(limit)


def _lengths(capabilities: Capabilities, bits: int) -> tuple[int, int]:
    """Digits and rounds of operands of `bits` bits."""
    shortest, longest = capabilities.min_length, capabilities.max_length
    if not shortest <= bits <= longest:
        raise ValueError(
            f"the multiplier takes moduli of {shortest} to {longest} bits, not of {bits}"
        )
    return capabilities.digits(bits), capabilities.rounds(bits)


@dataclass(eq=False)
class _Bench:
    """Prepares a multiplier, starts it once, and is its memory."""

    _dut: ModularMultiplier
    _memory: dict[tuple[Role, int], int]
    _digits: int
    _rounds: int

    def __post_init__(self) -> None:
        nothing = [0] * (READ_LATENCY - 1)
        self._a_asked, self._b_asked = deque(nothing), deque(nothing)
        self.result: dict[int, int] = {}
        self.cycles = 0
        self.products = 0

    async def run(self, context: SimulatorContext) -> None:
        """Do it; the outcome is in the public attributes."""
        if self._dut.multiplication.prepares:
            await self._command(context, self._dut.prepare)
        self.cycles, self.products = await self._command(context, self._dut.start)

    async def _command(self, context: SimulatorContext, command: object) -> tuple[int, int]:
        """Cycles and products from the cycle after a command to the one of `done`."""
        lengths = (
            (self._dut.inner_digits, self._digits),
            (self._dut.outer_digits, self._digits),
            (self._dut.rounds, self._rounds),
        )
        # They hold from the first of these cycles on; before, they may be anything.
        for port, _ in lengths:
            context.set(port, (1 << len(port)) - 1)
        context.set(command, 1)
        await self._cycle(context)
        context.set(command, 0)
        for port, length in lengths:
            context.set(port, length)
        cycles = products = done = 0
        while not done:
            cycles += 1
            products += context.get(self._dut.multiplying)
            done = context.get(self._dut.done)
            await self._cycle(context)
        return cycles, products

    async def _cycle(self, context: SimulatorContext) -> None:
        """Take the requests of this cycle, and answer in the next those of the cycles before."""
        dut = self._dut
        # What lies beyond an operand's end may be anything.
        anything = (1 << len(dut.a_data)) - 1
        asked = context.get(dut.a_role), context.get(dut.a_index)
        self._a_asked.append(self._memory.get(asked, anything))
        index = context.get(dut.b_index)
        if dut.multiplication.two_streams and context.get(dut.b_multiplier):
            self._b_asked.append(self._memory.get((Role.MULTIPLIER, index), anything))
        else:
            self._b_asked.append(self.result.get(index, anything))
        if context.get(dut.b_write):
            self.result[index] = context.get(dut.b_write_data)
        await context.tick()
        context.set(dut.a_data, self._a_asked.popleft())
        context.set(dut.b_data, self._b_asked.popleft())
