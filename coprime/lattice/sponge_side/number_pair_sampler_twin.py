"""What the sampler of pairs of ML-DSA does, cycle by cycle, in integers."""

from coprime.cells.keccak.twin import BusWord
from coprime.lattice.memory.twins import Pair, SampleBufferTwin
from coprime.model.lattice import ml_dsa_sampling as sampling

from .coefficient_sampler import Sample
from .instructions import Destination
from .large_sampler_twin import ETAS, MASK_BITS, TAU_OF, BallTwin, BytesTwin
from .word_candidates import KEPT_BITS, STEP_WIDTHS, WINDOW_BITS, step_at


class _Candidates:
    """A WordCandidates, whose candidates are already coefficients: those that are accepted.

    Attributes
    ----------
    found (list of int | None): in the register of candidates, if it is full
    """

    def __init__(self, sample: Sample):
        self.sample = sample
        self.offset, self.before = KEPT_BITS, 0
        self.found: list[int] | None = None
        self.used_up = False

    def tick(self, offered: BusWord | None, *, drop: bool, taken: bool) -> bool:
        """Whether a word that is offered is taken."""
        moves = self.found is None or taken
        step = step_at(self.sample, self.offset)
        ready = not self.used_up and (drop or (moves and step.uses_up))
        steps = offered is not None and not self.used_up and not drop and moves
        if moves:
            self.found = None
        if steps and offered is not None:
            self.found = self._coefficients(offered, step.candidates)
            self.offset = step.offset
        if ready and offered is not None:
            self.before = offered.data >> WINDOW_BITS - 2 * KEPT_BITS
            self.used_up = offered.last
        return ready

    def _coefficients(self, word: BusWord, candidates: int) -> list[int]:
        window = self.before | word.data << KEPT_BITS
        width, sample = STEP_WIDTHS[self.sample], self.sample
        numbers = [window >> self.offset + width * k & (1 << width) - 1 for k in range(candidates)]
        if sample in ETAS:
            eta = ETAS[sample]
            return [x for number in numbers for x in sampling.short(bytes([number | 0xF0]), eta)]
        if sample in MASK_BITS:
            return [(1 << width - 1) - number for number in numbers]
        return sampling.uniform(b"".join(number.to_bytes(3, "little") for number in numbers))


class NumberPairSamplerTwin:
    """A NumberPairSampler, for one polynomial.

    Attributes
    ----------
    steady (bool): the last cycle has changed nothing
    """

    def __init__(self) -> None:
        self.steady = self.begun = self.complete = False
        self.ball: BallTwin | None = None
        self.numbers: list[int] = []
        self.even: int | None = None
        self.pair: Pair | None = None

    def _begin(self, destination: Destination) -> None:
        self.begun, self.source = True, BytesTwin()
        if destination in TAU_OF:
            self.ball = BallTwin(TAU_OF[destination])
        sample = Sample.UNIFORM if self.ball else Sample(destination.value - 8)
        self.candidates = _Candidates(sample)

    def tick(
        self, destination: Destination, offered: BusWord | None, buffer: SampleBufferTwin
    ) -> tuple[bool, Pair | None, bool | None]:
        """Whether the word is taken, a pair that leaves, and at the end whether the bytes have
        sufficed."""
        self.steady = False
        if not self.begun:
            self._begin(destination)
        if self._ended:
            return False, None, self.complete
        leaving = self.pair if buffer.room else None
        moves = self.pair is None or leaving is not None
        completes = self.complete or (self.pair is not None and buffer.at_last)
        if leaving is not None:
            buffer.take(leaving)
            self.complete |= buffer.at_last
        before = self.numbers, self.pair, self.even
        if moves:
            self._form_pair(completes)
        if self.ball:
            takes, still = self._tick_ball(self.ball, offered, moves)
        else:
            takes, still = self._tick_candidates(offered, completes, moves)
        after = self.numbers, self.pair, self.even
        taken = takes and offered is not None
        self.steady = still and leaving is None and not taken and before == after
        return takes, leaving, None

    @property
    def _ended(self) -> bool:
        if self.ball:
            return self.source.used_up and (self.complete or self.ball.fails)
        waits = self.candidates.found is not None or bool(self.numbers) or self.pair is not None
        return self.candidates.used_up and (self.complete or not waits)

    def _form_pair(self, completes: bool) -> None:
        """Of the coefficients in the register, and one that is left."""
        found = self.numbers if self.even is None else [self.even, *self.numbers]
        self.even = found[-1] if len(found) % 2 else None
        self.pair = (found[0], found[1]) if len(found) > 1 and not completes else None

    def _tick_candidates(
        self, offered: BusWord | None, completes: bool, moves: bool
    ) -> tuple[bool, bool]:
        """Whether the word is taken, and nothing has changed before the coefficients."""
        candidates = self.candidates
        before = candidates.found, candidates.offset
        if moves:
            self.numbers = candidates.found or []
        takes = candidates.tick(offered, drop=completes, taken=moves)
        return takes, before == (candidates.found, candidates.offset)

    def _tick_ball(self, ball: BallTwin, offered: BusWord | None, moves: bool) -> tuple[bool, bool]:
        """The same of a challenge."""
        source = self.source
        drop = ball.completes
        byte = None if drop else source.byte
        before = ball.state, ball.last
        ready, number = ball.tick(byte, missing=source.used_up, ready=moves)
        if moves:
            self.numbers = [] if number is None else [number]
        still = byte is None and before == (ball.state, ball.last)
        still &= source.held is None or not (drop or ready)
        return source.tick(offered, ready=ready, drop=drop), still
