"""Single bits that flip during an operation: what an accelerator gives then.

    python -m bench.faults --bits 128 --flips 5000

Each flip is a run of its own, which begins with the same registers and memory and ends where the
accelerator tells that it has ended, or never. The seed tells everything.
"""

import argparse
import math
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum

from coprime.bus import registers
from coprime.catalog import Choice, choose
from coprime.device.accelerator import Accelerator, Result
from coprime.device.base import DeviceError, read_block, write_block
from coprime.device.faulty import FaultyDevice, Register
from coprime.device.jobs import value_of, words_of
from coprime.engine.contract import Command, Error, Operand
from coprime.flow.parts import accelerator_verilog
from coprime.rsa import keys

from .page import replace_part, table, thousands

PAGE = "compact.md"
CAMPAIGNS = ((128, 5000), (1024, 100))
"""Bits of the modulus and flips in the engine, of the page's table."""
ENGINE = "engine."


class Outcome(Enum):
    """What can be read in the end."""

    RIGHT = "right"
    ERROR = "error"
    HANG = "no end"
    OTHER_MESSAGE = "right for another X"
    """The result is right for what the memory holds as X in the end: the flip has changed X."""
    WRONG = "wrong"


class Place(Enum):
    """Where bits flip."""

    REGISTERS = "engine, registers"
    MEMORY = "engine, memory"
    FRONT_END = "front end and bus"

    def holds(self, register: Register) -> bool:
        """Whether the register is there."""
        if not register.name.startswith(ENGINE):
            return self is Place.FRONT_END
        return self is (Place.MEMORY if register.is_memory else Place.REGISTERS)


@dataclass(frozen=True, order=True)
class Flip:
    """A bit of a register, or of a memory's word; `cycle` counts the engine's busy ones from 0."""

    cycle: int
    name: str
    word: int
    bit: int

    def __str__(self) -> str:
        return f"cycle {self.cycle}, word {self.word}, bit {self.bit} of {self.name}"


@dataclass(frozen=True)
class Run:
    """What became of a flip.

    Parameters
    ----------
    flip, outcome
    error : of an ERROR, else NONE
    value : what can be read as the result, if anything
    reveals : value^e - X has a factor in common with the modulus, but not all of it: who sees this
        wrong signature has the key
    """

    flip: Flip
    outcome: Outcome
    error: Error
    value: int | None
    reveals: bool


class Campaign:
    """One operation on one accelerator, to be run with one flip after the other.

    Parameters
    ----------
    choice : which accelerator
    command : the operation
    operate : loads the operands, and does the operation with an input
    x : the input, above 0
    power : what the result is for an input
    e, m : public exponent and modulus
    patience : runs that take longer than so many operations have no end

    Attributes
    ----------
    device : FaultyDevice
    cycles : int
        In which the engine is busy.
    """

    def __init__(
        self,
        choice: Choice,
        command: Command,
        operate: Callable[[Accelerator, int], Result],
        *,
        x: int,
        power: Callable[[int], int],
        e: int,
        m: int,
        patience: float = 2,
    ):
        device = self.device = FaultyDevice(accelerator_verilog(choice), choice.module_name)
        self._x, self._power, self._e, self._m = x, power, e, m
        # Another input's result is there from before: a stale one is not the right one.
        assert operate(Accelerator(device), x - 1).value == power(x - 1)
        write_block(device, registers.INPUT_WINDOW.address, words_of(x, m.bit_length()))
        device.write32(registers.INPUT_LENGTH.address, (m.bit_length() + 7) // 8)
        device.write32(registers.COMMAND.address, command)
        self._run_to_the_engine()
        self._start = device.save()
        start = device.cycles
        device.wait_interrupt()
        device.cycle_limit = math.ceil(patience * (device.cycles - start))
        self.cycles = device.read32(registers.CYCLES.address)
        assert self._read_result() == power(x)
        own = choice.design.capabilities
        self._digits = own.to_digits(Operand.X, x, max(m.bit_length(), own.min_length))
        self._width = own.digit_width
        self._words_of_x = self._find_x()

    @classmethod
    def of_private(cls, choice: Choice, bits: int, seed: int) -> "Campaign":
        """RSA_PRIVATE with a key from the seed."""
        key = keys.generate(bits, seed=seed)

        def operate(accelerator: Accelerator, x: int) -> Result:
            accelerator.load_private(key)
            return accelerator.private(x)

        return cls(
            choice,
            Command.RSA_PRIVATE,
            operate,
            x=random.Random(seed).randrange(1, key.n),
            power=lambda x: pow(x, key.d, key.n),
            e=key.e,
            m=key.n,
        )

    def bits(self, place: Place) -> int:
        """How many bits there are to flip."""
        return sum(one.width * one.words for one in self._registers(place))

    def draw(self, place: Place, count: int, seed: int) -> list[Flip]:
        """Flips of bits of a place, all with the same chance, in cycles in which the engine is
        busy.
        """
        generator = random.Random(f"{seed} {place.name}")
        found = self._registers(place)
        drawn = generator.choices(found, [one.width * one.words for one in found], k=count)
        return [
            Flip(
                generator.randrange(self.cycles),
                one.name,
                generator.randrange(one.words),
                generator.randrange(one.width),
            )
            for one in drawn
        ]

    def run(self, flips: Iterable[Flip]) -> Iterator[Run]:
        """Run the operation with each of the flips, in the order of their cycles."""
        device = self.device
        state, cycle = self._start, 0
        for flip in sorted(flips):
            # What comes before a flip is run once, from the flip before on.
            device.restore(state)
            device.run(flip.cycle - cycle)
            state, cycle = device.save(), flip.cycle
            device.flip(device.registers[flip.name], flip.word, flip.bit)
            yield self._finish(flip)

    def _registers(self, place: Place) -> list[Register]:
        return [one for one in self.device.registers.values() if place.holds(one)]

    def _run_to_the_engine(self) -> None:
        """Let the command pass that brings X into the engine: it is busy when cycles are counted.

        ValueError if that does not come soon.
        """
        counter = self.device.registers["front_end.status.cycles"]
        first = self.device.peek(counter)
        for _ in range(1000 + 100 * self._m.bit_length()):
            state = self.device.save()
            self.device.run(1)
            if self.device.peek(counter) not in (0, first):
                self.device.restore(state)
                return
        raise ValueError("the engine does not begin")

    def _find_x(self) -> list[tuple[Register, int]]:
        """The words of the memory that hold X, its lowest digit first; none if it is not kept."""
        count = len(self._digits)
        for one in self._registers(Place.MEMORY):
            words = [self.device.peek(one, word) for word in range(one.words)]
            for first in range(one.words - count + 1):
                if words[first : first + count] == self._digits:
                    return [(one, first + k) for k in range(count)]
        return []

    def _x_in_memory(self) -> int:
        digits = (self.device.peek(one, word) for one, word in self._words_of_x)
        return sum(digit << self._width * k for k, digit in enumerate(digits))

    def _read_result(self) -> int | None:
        count = (self.device.read32(registers.OUTPUT_LENGTH.address) + 3) // 4
        if not count:
            return None
        return value_of(read_block(self.device, registers.OUTPUT_WINDOW.address, count))

    def _finish(self, flip: Flip) -> Run:
        """Run to the end, read what can be read, and judge it."""
        code, value = 0, None
        with suppress(DeviceError):
            self.device.wait_interrupt()
        with suppress(DeviceError):  # the bus may give no answer
            code = registers.ERROR["CODE"].of(self.device.read32(registers.ERROR.address))
            value = self._read_result()
        if value is None:
            outcome = Outcome.ERROR if code else Outcome.HANG
        elif value == self._power(self._x):
            outcome = Outcome.RIGHT
        elif self._words_of_x and value == self._power(self._x_in_memory()):
            outcome = Outcome.OTHER_MESSAGE
        else:
            outcome = Outcome.WRONG
        error = Error(code) if code in set(Error) else Error.NONE
        reveals = outcome is Outcome.WRONG and self._reveals(value)
        return Run(flip, outcome, error, value, reveals)

    def _reveals(self, signature: int) -> bool:
        factor = math.gcd(pow(signature, self._e, self._m) - self._x, self._m)
        return 1 < factor < self._m


@dataclass(frozen=True)
class Sum:
    """The runs of one place."""

    bits: int
    runs: tuple[Run, ...]
    seconds: float

    @property
    def wrong(self) -> list[Run]:
        return [run for run in self.runs if run.outcome is Outcome.WRONG]

    def row(self) -> tuple[str, ...]:
        outcomes = Counter(run.outcome for run in self.runs)
        counts = [outcomes[one] for one in Outcome]
        counts.append(sum(run.reveals for run in self.runs))
        return thousands(self.bits), thousands(len(self.runs)), *map(thousands, counts)


HEAD = ["bits", "flips", *(one.value for one in Outcome), "of these give the key away"]


def flip_bits(
    campaign: Campaign, place: Place, count: int, seed: int, progress: Callable[[Run], None]
) -> Sum:
    """Run a campaign's flips of one place."""
    started = time.perf_counter()
    runs = []
    for run in campaign.run(campaign.draw(place, count, seed)):
        runs.append(run)
        progress(run)
    return Sum(campaign.bits(place), tuple(runs), time.perf_counter() - started)


def shares(flips: int) -> Mapping[Place, int]:
    """Half of the flips in the engine's registers, half in its memory; as many as a fifth of all
    beside these in the front end, where no check of the engine's can help.
    """
    return {
        Place.REGISTERS: flips - flips // 2,
        Place.MEMORY: flips // 2,
        Place.FRONT_END: flips // 5,
    }


def measure() -> str:
    """Write the table of docs/compact.md; nothing of it stands in docs/results.md."""
    rows = []
    for bits, flips in CAMPAIGNS:
        campaign = Campaign.of_private(choose("compact", {"max_bits": str(bits)}), bits, seed=1)
        for place, count in shares(flips).items():
            found = flip_bits(campaign, place, count, 1, lambda run: None)
            rows.append((thousands(bits), place.value, *found.row()))
        campaign.device.close()
    replace_part(PAGE, "faults", table(["modulus", "place", *HEAD], rows))
    return ""


def main(arguments: list[str] | None = None) -> int:
    """Run a campaign and print its table; status 1 if a wrong result came out of the engine."""
    parser = argparse.ArgumentParser(prog="python -m bench.faults", description=__doc__)
    parser.add_argument("family", nargs="?", default="compact")
    parser.add_argument("--bits", type=int, default=128, help="of the modulus (128)")
    parser.add_argument("--flips", type=int, default=5000, help="in the engine (5000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--list", action="store_true", help="tell each flip with a wrong result")
    asked = parser.parse_args(arguments)
    choice = choose(asked.family, {"max_bits": str(max(64, asked.bits))})
    campaign = Campaign.of_private(choice, asked.bits, asked.seed)

    def tell(run: Run) -> None:
        if asked.list and run.outcome is Outcome.WRONG:
            print(f"{run.flip}{': gives the key away' if run.reveals else ''}")

    rows, seconds, wrong = [], 0.0, 0
    with campaign.device:
        print(f"RSA_PRIVATE of {asked.bits} bits, {campaign.cycles:,} cycles in the engine")
        for place, count in shares(asked.flips).items():
            found = flip_bits(campaign, place, count, asked.seed, tell)
            rows.append((place.value, *found.row()))
            seconds += found.seconds
            wrong += len(found.wrong) * (place is not Place.FRONT_END)
    print(table(["place", *HEAD], rows), end="")
    print(f"{seconds:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
