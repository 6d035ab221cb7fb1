"""Traces of Keccak alone: one block of a message in shares, the permutation, the output in shares.

The message of an engine enters and its output leaves without masks. What is in between is masked
with `masked=sponge`, and that is what these traces are of.
"""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from coprime.calls.interface import Values
from coprime.catalog import CallChoice
from coprime.cells.keccak.hash_unit import make_sponge
from coprime.cells.keccak.twin import SpongeCycles
from coprime.model.keccak import FUNCTIONS, LANE_BITS, LARGEST_RATE, Function, digest, padded
from coprime.model.trivium import SEED_BYTES
from coprime.shake.design import ShakeDesign
from coprime.shake.interface import FIRST_CODE

from .call_traces import NOTHING
from .places import Place, Places
from .power import PowerDevice
from .sponge_alone import COMMAND, LAST, OUTPUT, PART_BITS, SEED, TOP, WORDS, sponge_verilog
from .traces import DrawnTrace

MESSAGE = "message"
_WIPED = 400  # cycles after which a sponge of any speed is ready
_BLOCK = LARGEST_RATE * LANE_BITS // 8


@dataclass(frozen=True)
class SpongeTraces:
    """A TraceSource: a message of one block, of a function of `shake`, in the sponge alone."""

    choice: CallChoice
    operation: str
    seed: int
    test: str = MESSAGE

    @property
    def design(self) -> ShakeDesign:
        """Whose sponge is assessed."""
        design = self.choice.design
        assert isinstance(design, ShakeDesign)
        return design

    @property
    def function(self) -> Function:
        """That is computed."""
        call = self.design.interface.named(self.operation)
        return FUNCTIONS[call.code - FIRST_CODE]

    @property
    def settings(self) -> Mapping[str, Any]:
        """As of TraceSource."""
        return {
            "family": self.choice.family.name,
            "parameters": dict(self.choice.values),
            "operation": self.operation,
            "test": self.test,
            "seed": self.seed,
        }

    @property
    def title(self) -> str:
        """What is run on what, in words."""
        return f"a block of {self.operation} in the sponge of {self.choice.family.name}"

    @property
    def command_line(self) -> str:
        """The command that assesses it, without options for its traces."""
        command = self.choice.command("assess leakage")
        return f"{command} --operation {self.operation} --test {self.test} --seed {self.seed}"

    module_name = TOP
    varies = False

    @property
    def predicted_cycles(self) -> int:
        """About so many: the block's pass and the permutation."""
        cycles = SpongeCycles(self.design.slices, self.design.masked)
        return cycles.one_pass + cycles.permutation

    def verilog(self) -> str:
        """Of the sponge behind registers."""
        return sponge_verilog(make_sponge(self.design.slices, 1, masked=self.design.masked))

    def check(self) -> None:
        """Raise ValueError for another test than MESSAGE or NOTHING."""
        if self.test not in (MESSAGE, NOTHING):
            raise ValueError(
                f"{self.operation} has no input {self.test!r}: choose --test {MESSAGE} or {NOTHING}"
            )

    @cached_property
    def reference(self) -> DrawnTrace:
        """What the trace follows from that others are compared with."""
        return self._drawn(True, random.Random(f"{self.seed} reference"))

    def draw(self, number: int) -> DrawnTrace:
        """What the trace of this number follows from."""
        generator = random.Random(f"{self.seed} {number}")
        return self._drawn(bool(generator.getrandbits(1)), generator)

    def _drawn(self, fixed: bool, generator: random.Random) -> DrawnTrace:
        size = self.function.rate_bytes - 1
        message = self._fixed_message
        if self.test == NOTHING or not fixed:
            message = generator.randbytes(size)
        values = {MESSAGE: message, "masks": generator.randbytes(_BLOCK)}
        return DrawnTrace(fixed, values, generator.randbytes(SEED_BYTES + 1))

    @cached_property
    def _fixed_message(self) -> bytes:
        return random.Random(f"{self.seed} {MESSAGE}").randbytes(self.function.rate_bytes - 1)

    def input_bytes(self, values: Values) -> bytes:
        """The message."""
        return values[MESSAGE]

    def driver(self, device: PowerDevice) -> Callable[[DrawnTrace], tuple[bytes, bytes]]:
        """As of TraceSource; the result is the message with the first bytes of the output."""
        device.run(_WIPED)
        count = 32

        def run(drawn: DrawnTrace) -> tuple[bytes, bytes]:
            device.write32(SEED, 0)  # it is complete before the last word is written
            writes = self._writes(drawn.values)
            last = len(writes) - self._parts
            for place in range(0, last, 128):
                device.write_block(WORDS, writes[place : min(last, place + 128)])
            for part in writes[last:]:
                device.write32(LAST, part)
            device.write32(COMMAND, 0)
            return drawn.values[MESSAGE], self._output(device, count)

        return run

    @property
    def _word_bits(self) -> int:
        """Of a word with its shares."""
        return self.design.slices * (2 if self.design.masked else 1)

    @property
    def _parts(self) -> int:
        """Writes of the last words of a block."""
        return max(1, self._word_bits // PART_BITS)

    def _writes(self, values: Values) -> list[int]:
        """The block in the words of writes."""
        block = padded(self.function, values[MESSAGE]).ljust(_BLOCK, b"\0")
        bits, slices = int.from_bytes(block, "little"), self.design.slices
        masks = int.from_bytes(values["masks"], "little") if self.design.masked else 0
        words, mask = [], (1 << slices) - 1
        for place in range(0, 8 * _BLOCK, slices):
            word, own = bits >> place & mask, masks >> place & mask
            words.append(own | (word ^ own) << slices if self.design.masked else word)
        size = self._word_bits
        if size > PART_BITS:
            low = (1 << PART_BITS) - 1
            return [word >> k & low for word in words for k in (0, PART_BITS)]
        if 2 * size <= PART_BITS:
            pairs = zip(words[::2], words[1::2], strict=True)
            return [first | second << size for first, second in pairs]
        return words

    def _output(self, device: PowerDevice, count: int) -> bytes:
        slices, bits = self.design.slices, 0
        for place in range(0, 8 * count, slices):
            parts = [device.read32(OUTPUT) for _ in range(self._parts)]
            word = sum(part << PART_BITS * k for k, part in enumerate(parts))
            if self.design.masked:
                word = (word ^ word >> slices) & (1 << slices) - 1
            bits |= word << place
        return bits.to_bytes(count, "little")

    def is_right(self, result: tuple[bytes, bytes]) -> bool:
        """Whether the output is the function's."""
        message, output = result
        length = None if self.function.digest_bytes else len(output)
        wanted = digest(self.function, message, length)[: len(output)]
        return output[: len(wanted)] == wanted

    def places(self, device: PowerDevice, run: Callable[[], object], first: int) -> Places:
        """The pass in each cycle, by its number; the one of the block is 0."""
        run()
        cycles = SpongeCycles(self.design.slices, self.design.masked).one_pass
        return Places(
            [
                (
                    "",
                    [Place(0, f"pass {cycle // cycles}") for cycle in range(len(device.trace))],
                )
            ]
        )
