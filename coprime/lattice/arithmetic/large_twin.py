"""What the arithmetic side modulo 8380417 does, cycle by cycle, in integers."""

import enum

from coprime.lattice.memory.twins import SampleBufferTwin
from coprime.model.lattice import large_arithmetic as model
from coprime.model.lattice import ml_dsa, rounding
from coprime.model.lattice.large_arithmetic import N, Poly, canonical, centred, corrected
from coprime.model.lattice.ml_dsa_sets import DROPPED_BITS, ML_DSA_SETS, MlDsaSet

from .hint_encoder import HintEncoder
from .large_bytes import BOUND_OF, MOST, SHORT_WIDTHS, PackedForm
from .large_instructions import (
    AssembledLarge,
    LargeCode,
    LargeInstruction,
    LargeLoop,
    LargeWidth,
)
from .large_steps import FOLLOWS, PAIR_SHIFT, LargeKind, LargeStep, Part
from .norm_check import BOUNDS, NormBound
from .number_packer import HINT_BITS, ML_DSA_WIDTHS
from .twin import ArithmeticEvents

_NOTHING = ArithmeticEvents()


class _State(enum.Enum):
    FETCH = 0
    LATCH = 1
    EXECUTE = 2
    RUN = 3


class _Hints:
    """A HintMemory: of each row the places that its bytes state, as the hardware meets them."""

    def __init__(self, parameters: MlDsaSet):
        self.p = parameters
        self.data = bytes(128)
        self.used = self.end = 0
        self.refuses = False
        self.found: list[list[int]] = []

    def row(self, number: int) -> None:
        count = self.data[self.p.omega + number]
        self.refuses |= count < self.used or count > self.p.omega
        self.end = count

    def bits(self) -> list[int]:
        """Of the row's coefficients."""
        found = []
        for place in range(N):
            hint = not self.refuses and self.used != self.end and self.data[self.used] == place
            self.used += hint
            found.append(int(hint))
        self.refuses |= self.used != self.end
        return found

    def rest(self) -> int:
        """Bytes left; all are looked at."""
        left = self.p.omega - self.used
        self.refuses |= any(self.data[self.used : self.p.omega])
        self.used = self.p.omega
        return left

    @property
    def number(self) -> int:
        """Hints that were found."""
        return sum(map(sum, self.found))

    def finish(self) -> int:
        """Bytes of what was found, as a HintEncoder gives them; its busy cycles."""
        most = min(self.number, self.p.omega)
        kept, counts = [], []
        for row in self.found:
            kept += [place for place, hint in enumerate(row) if hint]
            counts.append(min(len(kept), most))
        data = bytes(kept[:most]) + bytes(self.p.omega - most) + bytes(counts)
        self.data = data + self.data[len(data) :]
        return HintEncoder.cycles(most, ML_DSA_SETS.index(self.p))


def _part(f: Poly, part: Part) -> Poly:
    """The numbers that share a polynomial's."""
    if part is Part.WHOLE:
        return f
    half = 1 << PAIR_SHIFT - 1
    found = []
    for x in map(centred, f):
        low = (x + half & 2 * half - 1) - half
        found.append(low if part is Part.LOW else x - low >> PAIR_SHIFT)
    assert max(map(abs, found)) < half
    return found


class LargeTwin:
    """A LargeSide beside a byte memory, a list of words, and a SampleBufferTwin.

    In each cycle call `tick`, and after both sides' calls that of the buffer.

    Attributes
    ----------
    busy, rejected (bool)
    genuine (bool): False, as there is no decision
    """

    genuine = False

    def __init__(
        self,
        program: AssembledLarge,
        memory: list[int],
        buffer: SampleBufferTwin,
        lanes: int = 1,
    ):
        self.lanes = lanes
        self.program, self.memory, self.buffer = program, memory, buffer
        self.polynomials: list[Poly] = [[0] * N for _ in range(program.regions)]
        self.busy = self.rejected = self._outside = False
        self._state, self._left = _State.FETCH, 0
        self._counter = self._row = self._column = self._set = 0
        self._addresses = [0] * len(program.places)
        self._hints = _Hints(program.sets[0])

    @property
    def exceeds(self) -> bool:
        """As the port, between steps."""
        too_many = self._hints.number > self._hints.p.omega
        return self._outside or self._hints.refuses or too_many

    @property
    def refused(self) -> bool:
        """What the routine has checked is wrong: the same after its end."""
        return self.exceeds

    def start(self, entry: str, parameter_set: int) -> None:
        """As the ports, in the cycle of the last `tick`."""
        assert not self.busy
        self.busy, self._state = True, _State.FETCH
        self._counter, self._set = self.program.entries[entry], parameter_set
        self._row = self._column = 0

    @property
    def _parameters(self) -> MlDsaSet:
        return self.program.sets[self._set]

    def tick(self, *, available: bool = False) -> ArithmeticEvents:
        """A cycle. It waits for no semaphore, `available` or not."""
        if not self.busy:
            return _NOTHING
        if self._state in (_State.FETCH, _State.LATCH):
            self._state = _State.LATCH if self._state is _State.FETCH else _State.EXECUTE
            return _NOTHING
        if self._state is _State.RUN:
            self._left -= 1
            if not self._left:
                instruction = self.program.instructions[self._counter]
                self._execute(instruction)
                if self._repeats(instruction):
                    self._column += 1
                else:
                    self._counter += 1
                    if self._is_of_columns(instruction):
                        self._column = 0
                self._state = _State.EXECUTE
            return _NOTHING
        return self._instruction()

    def _instruction(self) -> ArithmeticEvents:
        instruction = self.program.instructions[self._counter]
        code = instruction.code
        if isinstance(code, LargeKind):
            if not self._samples(instruction) or self.buffer.full:
                self._left, self._state = self._step(instruction).cycles_on(self.lanes), _State.RUN
                if self._repeats(instruction):
                    self._left = self._step(instruction).slots(self.lanes) + FOLLOWS
            return _NOTHING
        following = self._counter + 1
        match code:
            case LargeCode.VERDICT:
                self.rejected = self.exceeds
            case LargeCode.SEEK:
                addresses = self.program.places[instruction.place]
                self._addresses[instruction.place] = addresses[self._set]
            case LargeCode.LOOP:
                following = self._loop(instruction.over, instruction.label)
            case LargeCode.CLEAR:
                self._outside, self._hints = False, _Hints(self._parameters)
            case LargeCode.ROW:
                self._hints.row(self._row)
            case LargeCode.REST | LargeCode.FINISH:
                if not self._left:
                    rests = code is LargeCode.REST
                    self._left = 1 + (self._hints.rest() if rests else 1 + self._hints.finish())
                self._left -= 1
                if self._left:
                    return _NOTHING
            case LargeCode.END:
                self.busy = False
        self._counter, self._state = following, _State.FETCH
        posts = code in (LargeCode.POST, LargeCode.VERDICT)
        return ArithmeticEvents(code is LargeCode.END, posts)

    @staticmethod
    def _samples(instruction: LargeInstruction) -> bool:
        """It needs a sample of the buffer, and not the bytes of hints."""
        return instruction.sample and not (
            instruction.code is LargeKind.PACK and instruction.width is LargeWidth.HINT
        )

    def _is_of_columns(self, instruction: LargeInstruction) -> bool:
        """A product of each column."""
        is_product = instruction.code is LargeKind.MULTIPLY
        return self.program.repeats and is_product and instruction.keep

    def _repeats(self, instruction: LargeInstruction) -> bool:
        """The instruction goes on with the next column."""
        is_last = self._column == self._parameters.columns - 1
        return self._is_of_columns(instruction) and not is_last

    def _step(self, instruction: LargeInstruction) -> LargeStep:
        return instruction.step(self._row, self._column, self._parameters)

    def _loop(self, over: LargeLoop, label: int) -> int:
        if over in (LargeLoop.REJECTED, LargeLoop.ALWAYS):
            jumps = self.rejected or over is LargeLoop.ALWAYS
            return label if jumps else self._counter + 1
        if over is LargeLoop.ROWS:
            more = self._row != self._parameters.k - 1
            self._row = self._row + 1 if more else 0
        else:
            more = self._column != self._parameters.columns - 1
            self._column = self._column + 1 if more else 0
        return label if more else self._counter + 1

    def _execute(self, instruction: LargeInstruction) -> None:
        """All of a step's effects, in its last cycle."""
        step = self._step(instruction)
        samples = self._samples(instruction)
        sample = self.buffer.oldest if samples else []
        old = self.polynomials[step.region]
        other = self.polynomials[step.other]
        match step.kind:
            case LargeKind.TRANSFORM:
                old = model.transform(sample or old)
            case LargeKind.LAST:
                # INVERSE's layers and this one, as one function.
                old = model.inverse(old)
            case LargeKind.MULTIPLY:
                before = old if step.add else [0] * N
                function = model.multiply_subtract if step.subtract else model.multiply_add
                old = function(before, sample or old, other)
            case LargeKind.SUM:
                total = model.differences if step.subtract else model.sums
                if samples:
                    old = total(_part(old, step.part), sample)
                else:
                    old = total(old, _part(other, step.part))
            case LargeKind.UNPACK:
                found = self._unpack(step, self._read(instruction.place, step.width))
                if step.add:
                    found = [x + (y << PAIR_SHIFT) for x, y in zip(old, found, strict=True)]
                old = found
            case LargeKind.PACK:
                self._pack(instruction, step, sample or old)
            case LargeKind.HINT:
                self._hint(old, other)
        self.polynomials[step.result] = old
        if samples and (not instruction.keep or self._is_of_columns(instruction)):
            self.buffer.release()

    def _read(self, place: int, width: int) -> bytes:
        address = self._addresses[place]
        self._addresses[place] += 8 * width
        words = self.memory[address : address + 8 * width]
        words += [0] * (8 * width - len(words))
        return b"".join(word.to_bytes(4, "little") for word in words)

    def _unpack(self, step: LargeStep, data: bytes) -> Poly:
        if step.width == HINT_BITS:
            self._hints.data = data[: len(self._hints.data)]
        if step.width not in MOST:
            return [x << DROPPED_BITS for x in ml_dsa.unpack(data, step.width)]
        found = ml_dsa.unpack_below(MOST[step.width], data, step.width)
        if step.form is PackedForm.BELOW:
            self._check(step, found)
        return found

    def _check(self, step: LargeStep, numbers: Poly) -> None:
        short = step.form is PackedForm.BELOW and step.width in ML_DSA_WIDTHS[:SHORT_WIDTHS]
        bound = NormBound.SHORT if short else BOUND_OF[step.form]
        number = ML_DSA_SETS.index(self._parameters)
        self._outside |= rounding.exceeds(numbers, BOUNDS[bound][number])

    def _hint(self, f: Poly, g: Poly) -> None:
        """Where the sum has another high part."""
        p = self._parameters
        bound = BOUNDS[NormBound.CORRECTION][ML_DSA_SETS.index(p)]
        self._outside |= rounding.exceeds([centred(x) for x in g], bound)
        row = []
        for x, y in zip(f, g, strict=True):
            high, low = rounding.decompose(p, canonical(x))
            total = low + centred(y)
            row.append(int(abs(total) > p.gamma2 or (total == -p.gamma2 and high != 0)))
        self._hints.found.append(row)

    def _pack(self, instruction: LargeInstruction, step: LargeStep, f: Poly) -> None:
        p, form = self._parameters, step.form
        numbers = [canonical(x) for x in f]
        if step.width == HINT_BITS:
            self._write(instruction.place, 2 * self._hints.data)
            return
        if form is PackedForm.LOW:
            self._check(step, [rounding.decompose(p, x)[1] for x in numbers])
            return
        if form is PackedForm.CHECK:
            self._check(step, [centred(x) for x in f])
            return
        if form is PackedForm.HIGH:
            hints = self._hints.bits()
            values = [rounding.use_hint(p, h, x) for h, x in zip(hints, numbers, strict=True)]
        elif form is PackedForm.BELOW:
            self._check(step, [centred(x) for x in f])
            values = [canonical(corrected(MOST[step.width] - x)) for x in numbers]
        else:
            parts = [rounding.power2round(x) for x in numbers]
            values = [r1 if form is PackedForm.TOP else ml_dsa.HALF - r0 for r1, r0 in parts]
        self._write(
            instruction.place, ml_dsa.pack([x & (1 << step.width) - 1 for x in values], step.width)
        )

    def _write(self, place: int, data: bytes) -> None:
        address = self._addresses[place]
        self._addresses[place] += len(data) // 4
        for k in range(0, len(data), 4):
            self.memory[address + k // 4] = int.from_bytes(data[k : k + 4], "little")
