"""What the arithmetic side does, cycle by cycle, in integers: the prediction of its cycles."""

import enum
from dataclasses import dataclass

from coprime.lattice.memory.places import SEED_WORDS
from coprime.lattice.memory.twins import SampleBufferTwin
from coprime.model.lattice.arithmetic import (
    N,
    Poly,
    differences,
    exact_sum,
    expand,
    inverse,
    multiply_add,
    pack,
    sums,
    transform,
    unpacked,
)

from .instructions import AssembledArithmetic, Code, LoopCount
from .steps import PolynomialStep, Region, StepType


@dataclass(frozen=True)
class ArithmeticEvents:
    """Outputs of a cycle, as ports of ArithmeticSide."""

    done: bool = False
    post: bool = False
    take: bool = False


class _State(enum.Enum):
    FETCH = 0
    LATCH = 1
    EXECUTE = 2
    RUN = 3
    COPY = 4


class ArithmeticTwin:
    """An ArithmeticSide beside a byte memory, a list of words, and a SampleBufferTwin.

    In each cycle call `tick`, and after both sides' calls that of the buffer.

    Attributes
    ----------
    busy, genuine, refused (bool)
    rejected (bool): False, as there is no VERDICT
    """

    rejected = False

    def __init__(
        self,
        program: AssembledArithmetic,
        memory: list[int],
        buffer: SampleBufferTwin,
        lanes: int = 1,
    ):
        self.program, self.memory, self.buffer = program, memory, buffer
        self.lanes = lanes
        self.polynomials: dict[Region, Poly] = {region: [0] * N for region in Region}
        self.busy = self.genuine = self.refused = self.differs = False
        self._state, self._left, self._step = _State.FETCH, 0, PolynomialStep(StepType.PACK)
        self._counter = self._row = self._column = self._set = self._address = self._other = 0

    def start(self, entry: str, parameter_set: int) -> None:
        """As the ports, in the cycle of the last `tick`."""
        assert not self.busy
        self.busy, self.refused, self._state = True, False, _State.FETCH
        self._counter, self._set = self.program.entries[entry], parameter_set
        self._row = self._column = 0

    def tick(self, *, available: bool = False) -> ArithmeticEvents:
        """A cycle: whether the semaphore is available."""
        if not self.busy:
            return ArithmeticEvents()
        if self._state in (_State.FETCH, _State.LATCH):
            self._state = _State.LATCH if self._state is _State.FETCH else _State.EXECUTE
            return ArithmeticEvents()
        if self._state is _State.RUN:
            self._left -= 1
            if not self._left:
                self._execute(self._step)
                self._counter += 1
                self._state = _State.EXECUTE
            return ArithmeticEvents()
        if self._state is _State.COPY:
            self._left -= 1
            if not self._left:
                self._copy()
                self._counter, self._state = self._counter + 1, _State.FETCH
            return ArithmeticEvents()
        return self._instruction(available)

    def _copy(self) -> None:
        """A seed from one place to the other."""
        source, sink = self._address, self._other
        self.memory[sink : sink + SEED_WORDS] = self.memory[source : source + SEED_WORDS]
        self._address, self._other = source + SEED_WORDS, sink + SEED_WORDS

    def _instruction(self, available: bool) -> ArithmeticEvents:
        instruction = self.program.instructions[self._counter]
        code = instruction.code
        if isinstance(code, StepType):
            self._step = instruction.step(self._column, self.program.widths[self._set])
            if not self._step.sample or self.buffer.full:
                self._left, self._state = 1 + self._step.cycles_on(self.lanes), _State.RUN
            return ArithmeticEvents()
        following = self._counter + 1
        match code:
            case Code.AWAIT:
                if not available:
                    return ArithmeticEvents()
            case Code.SEEK:
                self._address = self.program.places[instruction.place][self._set]
            case Code.EXCHANGE:
                self._address, self._other = self._other, self._address
            case Code.COPY:
                # Only with several lanes, which copy two words at once.
                self._left, self._state = 4 * SEED_WORDS // 2, _State.COPY
                return ArithmeticEvents()
            case Code.LOOP:
                following = self._loop(instruction.over, instruction.label)
            case Code.COMPARE:
                self.differs = False
            case Code.DECIDE:
                self.genuine = not self.differs
            case Code.END:
                self.busy = False
                self.refused = instruction.other and self.differs
        self._counter, self._state = following, _State.FETCH
        return ArithmeticEvents(code is Code.END, code is Code.POST, code is Code.AWAIT)

    def _loop(self, over: LoopCount, label: int) -> int:
        last = self.program.counts[self._set] - 1
        if over is LoopCount.ROWS:
            more = self._row != last
            self._row = self._row + 1 if more else 0
        else:
            more = self._column != last
            self._column = self._column + 1 if more else 0
        return label if more else self._counter + 1

    def _bytes(self, width: int) -> bytes:
        words = self.memory[self._address : self._address + 8 * width]
        self._address += 8 * width
        return b"".join(word.to_bytes(4, "little") for word in words)

    def _sample(self) -> Poly:
        return [x for pair in self.buffer.oldest for x in pair]

    def _execute(self, step: PolynomialStep) -> None:
        """All of a step's effects, in its last cycle."""
        sample = self._sample() if step.sample else [0] * N
        old = self.polynomials[step.region]
        acc = self.polynomials[Region.ACCUMULATOR]
        region = step.region
        match step.kind:
            case StepType.TRANSFORM:
                old = transform(sample if step.sample else old)
            case StepType.LAST:
                # INVERSE's layers and this one, as one function.
                old = inverse(old)
            case StepType.MULTIPLY:
                factor = sample if step.sample else unpacked(self._bytes(12), 12)
                old = multiply_add(acc if step.add else None, factor, old)
                region = Region.ACCUMULATOR
            case StepType.EXACT_SUM:
                old = exact_sum(acc, self.polynomials[Region.EXTRA])
            case StepType.UNPACK:
                found = expand(self._bytes(step.width), step.width)
                before = old if step.add else [0] * N
                old = differences(old, found) if step.subtract else sums(before, found)
            case StepType.PACK:
                self._pack(step, pack(old, step.width, sample))
        self.polynomials[region] = old
        if step.sample:
            self.buffer.release()

    def _pack(self, step: PolynomialStep, data: bytes) -> None:
        address = self._address
        found = self._bytes(step.width)
        if step.compare:
            self.differs |= data != found
        else:
            for k in range(0, len(data), 4):
                self.memory[address + k // 4] = int.from_bytes(data[k : k + 4], "little")
