"""What the samplers of ML-DSA do, cycle by cycle, in integers."""

from coprime.cells.keccak.sponge_padding import BUS_BYTES
from coprime.cells.keccak.twin import BusWord
from coprime.lattice.memory.twins import SampleBufferTwin
from coprime.model.lattice import ml_dsa_sampling as sampling
from coprime.model.lattice.ml_dsa_sets import ML_DSA_SETS

from .ball_sampler import BallState
from .coefficient_sampler import PHASES, Sample, ends_of
from .instructions import Destination

MASK_BITS = {Sample.MASK_18: 18, Sample.MASK_20: 20}
ETAS = {Sample.SHORT_2: 2, Sample.SHORT_4: 4}
TAU_OF = {
    Destination[f"BALL_{parameter_set.tau}"]: parameter_set.tau for parameter_set in ML_DSA_SETS
}
"""Of a challenge's destination."""
_LAST = sampling.COEFFICIENTS - 1
CLEARING = sampling.COEFFICIENTS
"""Cycles in which a challenge's memory is cleared."""


class BytesTwin:
    """A SampledBytes."""

    def __init__(self) -> None:
        self.held: BusWord | None = None
        self.index = 0
        self.used_up = False

    @property
    def byte(self) -> int | None:
        """The next byte, if there is one."""
        return None if self.held is None else self.held.data >> 8 * self.index & 255

    def tick(self, offered: BusWord | None, *, ready: bool, drop: bool) -> bool:
        """Whether the word that is offered is taken."""
        held = self.held
        moves = held is not None and (drop or ready)
        empties = moves and (drop or self.index == BUS_BYTES - 1)
        free = held is None or (empties and not held.last)
        takes = not self.used_up and free
        if moves:
            self.index = (self.index + 1) % BUS_BYTES
        if empties and held is not None:
            self.held, self.used_up = None, held.last
        if takes and offered is not None:
            self.held = offered
        return takes


class _Coefficients:
    """A CoefficientSampler.

    Attributes
    ----------
    steady (bool): the last cycle has changed nothing
    """

    def __init__(self, sample: Sample):
        self.sample, self.steady = sample, False
        self.is_short, self.period = sample in ETAS, PHASES.get(sample, 16)
        self.ends = {} if self.is_short else ends_of(sample)
        self.phase = self.before = 0
        self.is_upper = self.complete = False
        self.number: int | None = None

    def completes(self, buffer: SampleBufferTwin) -> bool:
        return self.complete or (self.number is not None and buffer.at_last)

    def _found(self, byte: int) -> int | None:
        if self.is_short:
            nibble = byte >> 4 * self.is_upper & 15
            found = sampling.short(bytes([nibble | 0xF0]), ETAS[self.sample])
            return found[0] if found else None
        if self.phase not in self.ends:
            return None
        bits = self.before | byte << 16
        if self.sample is Sample.UNIFORM:
            candidates = sampling.uniform(bits.to_bytes(3, "little"))
            return candidates[0] if candidates else None
        width = MASK_BITS[self.sample]
        return (1 << width - 1) - (bits >> self.ends[self.phase] & (1 << width) - 1)

    def tick(self, byte: int | None, buffer: SampleBufferTwin) -> tuple[bool, int | None]:
        """Whether the byte is taken, and a number that leaves."""
        completes = self.completes(buffer)
        leaving = self.number if buffer.room else None
        found = None if byte is None else self._found(byte)
        moves = self.number is None or leaving is not None
        step = byte is not None and not completes and (found is None or moves)
        takes = step and (self.is_upper or not self.is_short)
        self.steady = not step and leaving is None
        if leaving is not None:
            buffer.take(leaving)
            self.complete |= buffer.at_last
        if moves:
            self.number = None if completes else found
        if step:
            self.is_upper = self.is_short and not self.is_upper
        if takes and byte is not None:
            self.before = self.before >> 8 | byte << 8
            self.phase = (self.phase + 1) % self.period
        return takes, leaving


class BallTwin:
    """A BallSampler."""

    def __init__(self, tau: int):
        self.tau, self.state = tau, BallState.SIGNS
        self.last = self.signed = self.place = 0
        self.signs = bytearray(sampling.SIGN_BYTES)
        self.c = [0] * sampling.COEFFICIENTS
        self.failed = False

    @property
    def completes(self) -> bool:
        """As the port."""
        return self.state in (BallState.OUTPUT, BallState.DONE)

    @property
    def fails(self) -> bool:
        """As the port."""
        return self.state is BallState.DONE and self.failed

    def tick(self, byte: int | None, *, missing: bool, ready: bool) -> tuple[bool, int | None]:
        """Whether the byte is taken, and a number that leaves if the taker is ready."""
        match self.state:
            case BallState.SIGNS:
                if byte is not None:
                    self.signs[self.signed] = byte
                    self.signed += 1
                    if self.signed == sampling.SIGN_BYTES:
                        self.state, self.signed = BallState.PLACE, 0
                        self.last = sampling.COEFFICIENTS - self.tau
                return True, None
            case BallState.PLACE:
                refused = byte is not None and byte > self.last
                if byte is not None and not refused:
                    self.place, self.state = byte, BallState.MOVE
                if missing:
                    self.state, self.last, self.failed = BallState.FORGET, 0, True
                return refused, None
            case BallState.MOVE:
                self.c[self.last], self.state = self.c[self.place], BallState.SIGN
            case BallState.SIGN:
                sign = self.signs[self.signed // 8] >> self.signed % 8 & 1
                self.c[self.place] = 1 - 2 * sign
                self.state = BallState.OUTPUT if self.last == _LAST else BallState.PLACE
                self.last, self.signed = (self.last + 1) % sampling.COEFFICIENTS, self.signed + 1
                return True, None
            case BallState.OUTPUT | BallState.FORGET:
                return False, self._leave(ready)
        return False, None

    def _leave(self, ready: bool) -> int | None:
        output = self.state is BallState.OUTPUT
        if output and not ready:
            return None
        number = self.c[self.last]
        if self.last == _LAST:
            self.state = BallState.DONE
        self.last += 1
        return number if output else None


class LargeSamplerTwin:
    """A LargeSampler, for one polynomial after another.

    Attributes
    ----------
    steady (bool): the last cycle has changed nothing
    """

    def __init__(self) -> None:
        self.destination: Destination | None = None
        self.steady = False

    def _begin(self, destination: Destination) -> None:
        self.destination, self.source = destination, BytesTwin()
        is_ball = destination in TAU_OF
        self.ball = BallTwin(TAU_OF[destination]) if is_ball else None
        sample = Sample.UNIFORM if is_ball else Sample(destination.value - 8)
        self.coefficients = _Coefficients(sample)

    def tick(
        self, destination: Destination, offered: BusWord | None, buffer: SampleBufferTwin
    ) -> tuple[bool, int | None, bool | None]:
        """Whether the word is taken, a number that leaves, and at the end whether the bytes have
        sufficed."""
        self.steady = False
        if self.destination is None:
            self._begin(destination)
        source, ball, coefficients = self.source, self.ball, self.coefficients
        if source.used_up:
            if ball is None and coefficients.number is None:
                return False, None, coefficients.complete
            if ball is not None and ball.state is BallState.DONE:
                return False, None, not ball.failed
        drop = ball.completes if ball else coefficients.completes(buffer)
        byte = None if drop else source.byte
        if ball:
            before = ball.state, ball.last
            ready, leaving = ball.tick(byte, missing=source.used_up, ready=buffer.room)
            if leaving is not None:
                buffer.take(leaving)
            steady = byte is None and before == (ball.state, ball.last)
        else:
            ready, leaving = coefficients.tick(byte, buffer)
            steady = coefficients.steady
        steady &= source.held is None or not (drop or ready)
        takes = source.tick(offered, ready=ready, drop=drop)
        self.steady = steady and not (takes and offered)
        return takes, leaving, None
