"""The buses: what moving keys, operands and results takes, next to the computation."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from coprime.bus import registers as r
from coprime.bus.axi_accelerator import transfer_cycles
from coprime.bus.kinds import Bus
from coprime.catalog import Choice, family_named
from coprime.device.accelerator import Accelerator
from coprime.device.simulated import SimulatedDevice
from coprime.engine.contract import Command
from coprime.flow.parts import accelerator_verilog
from coprime.runs.numbers import random_numbers

from .page import table, thousands

DESIGNS: Sequence[tuple[str, dict[str, str]]] = (
    ("fdfm", {}),
    ("karatsuba", {"word": "32"}),
    ("montgomery-2csa", {}),
)
SIZES = (512, 1024, 2048)
KEY = {
    *(r.MODULUS_LENGTH, r.EXPONENT_LENGTH, r.P_LENGTH, r.Q_LENGTH),
    *(r.KEY_OPERAND, r.KEY_DATA, r.KEY_WINDOW),
}
"""What is written once for a key; an exponent of MODEXP goes the same way."""


@dataclass
class Meter:
    """A simulated device that tells for what its clock cycles passed.

    Parameters
    ----------
    device : what it measures
    passed : clock cycles by what they were for
    """

    device: SimulatedDevice
    passed: dict[str, int] = field(default_factory=dict)

    def _measure(self, what: str, method: str, *arguments: object) -> object:
        before = self.device.cycles
        result = getattr(self.device, method)(*arguments)
        self.passed[what] = self.passed.get(what, 0) + self.device.cycles - before
        return result

    @staticmethod
    def _purpose(address: int) -> str:
        if r.INPUT_WINDOW.address <= address < r.OUTPUT_WINDOW.address:
            return "input"
        if r.OUTPUT_WINDOW.address <= address < r.KEY_WINDOW.address:
            return "result"
        if address >= r.KEY_WINDOW.address or address in {one.address for one in KEY}:
            return "key"
        return "registers"

    def read32(self, address: int) -> int:
        return self._measure(self._purpose(address), "read32", address)

    def write32(self, address: int, value: int) -> None:
        self._measure(self._purpose(address), "write32", address, value)

    def read_block(self, address: int, count: int) -> list[int]:
        return self._measure(self._purpose(address), "read_block", address, count)

    def write_block(self, address: int, values: Sequence[int]) -> None:
        self._measure(self._purpose(address), "write_block", address, values)

    def wait_interrupt(self, timeout: float | None = None) -> None:
        self._measure("waiting", "wait_interrupt", timeout)


@dataclass(frozen=True)
class Costs:
    """Clock cycles of an operation.

    Parameters
    ----------
    key : everything that belongs to the key, once for all operations with it
    input, result : the words of the operand and of the result
    registers : all other accesses of the driver
    conversion : of waiting for the interrupt, what the engine does not work: words to digits, back
    engine : the computation
    one_by_one : input and result over AXI4-Lite by INPUT_FIFO and OUTPUT_FIFO, word by word
    """

    key: int
    input: int
    result: int
    registers: int
    conversion: int
    engine: int
    one_by_one: tuple[int, int]

    @property
    def part(self) -> float:
        """Part of the operation's cycles in which input and result are on the bus."""
        moved = self.input + self.result
        return moved / (moved + self.registers + self.conversion + self.engine)


def costs(choice: Choice, bus: Bus, command: Command, bits: int) -> Costs:
    """Measure an operation with operands, or a key, from a seed."""
    numbers = random_numbers(command, bits, seed=1)
    words = -(-bits // 32)
    verilog = accelerator_verilog(choice, bus=bus)
    with SimulatedDevice(verilog, choice.module_name) as device:
        meter = Meter(device)
        accelerator = Accelerator(meter, predict=choice.design.predict)
        meter.passed.clear()
        run = accelerator.operate(command, numbers)
        passed = dict(meter.passed)
        one_by_one = (
            _cycles(device, [(r.INPUT_FIFO, 0), (r.WRITE_ADDRESS, 1)] * words),
            _cycles(device, [(r.READ_ADDRESS, 0), (r.OUTPUT_FIFO, None)] * words),
        )
    assert run.value == command.operation.expected(numbers, 0)
    assert run.cycles == run.predicted_cycles
    assert passed["input"] + passed["result"] == transfer_cycles(bus, words, words)
    return Costs(
        key=passed["key"],
        input=passed["input"],
        result=passed["result"],
        registers=passed["registers"],
        conversion=passed["waiting"] - run.cycles,
        engine=run.cycles,
        one_by_one=one_by_one,
    )


def _cycles(device: SimulatedDevice, accesses: Sequence[tuple[r.Register, int | None]]) -> int:
    """Cycles of writing these values to registers, or of reading where there is none."""
    before = device.cycles
    for register, value in accesses:
        if value is None:
            device.read32(register.address)
        else:
            device.write32(register.address, value)
    return device.cycles - before


def moving(
    command: Command, designs: Sequence[tuple[str, dict[str, str]]]
) -> tuple[str, float, float]:
    """What moving takes over both buses, a line for each design and length.

    And the greatest part of an operation's cycles that input and result take, over each bus.
    """
    rows, parts = [], []
    for family, settings in designs:
        choice = family_named(family).choose(settings)
        for bits in SIZES:
            lite, bursts = (costs(choice, bus, command, bits) for bus in (Bus.AXI4_LITE, Bus.AXI4))
            assert lite.engine == bursts.engine
            parts.append((lite.part, bursts.part))
            rows.append(
                (
                    *(f"`{family}`", thousands(bits), " + ".join(map(str, lite.one_by_one))),
                    *(f"{one.input} + {one.result}" for one in (lite, bursts)),
                    *(thousands(lite.conversion), thousands(lite.engine)),
                    *(f"{one.part:.3%}" for one in (lite, bursts)),
                    *(thousands(one.key) for one in (lite, bursts)),
                )
            )
    head = [
        *("family", "bits", "AXI4-Lite, register by register", "AXI4-Lite, windows"),
        *("AXI4, bursts", "words to digits and back", "engine"),
        *("part of the bus, AXI4-Lite", "AXI4", "once for a key, AXI4-Lite", "AXI4"),
    ]
    return table(head, rows), *map(max, zip(*parts, strict=True))


def measure() -> str:
    """This part of the page."""
    private, *parts = moving(Command.RSA_PRIVATE, DESIGNS)
    power, *others = moving(Command.MODEXP, DESIGNS[:2])  # the third one simulates slowly
    lite, bursts = map(max, zip(parts, others, strict=True))
    text = f"""RSA_PRIVATE, with a key from a seed:

{private}
MODEXP, with an exponent as long as the modulus, which is loaded as a key's is:

{power}
So the bus hardly matters for one engine: its part of the cycles is {lite:.2%} in the worst of these
cases, and {bursts:.2%} with bursts.
"""
    return f"""## Buses

Clock cycles of one operation through the driver: the words in and out, over AXI4-Lite and over AXI4
with bursts of up to 256 words, for a master that is always ready. What it means:
[bus.md](bus.md#the-cost-of-moving-the-numbers).

{text}
"""
