"""What the sample buffer and a semaphore do, cycle by cycle, in integers.

A cycle is a call of what both sides do in it, in any order, then of `tick`; until then both see the
state before.
"""

from collections import deque
from itertools import chain
from typing import Any

from .sample_buffer import BUFFER_WORDS, joined_polynomials
from .semaphore import HIGHEST

Pair = tuple[int, int]
"""Two consecutive coefficients, the even one first."""
Sample = Pair | int


class SampleBufferTwin:
    """A SampleBuffer after its wipe; a word is a pair, or a number where it holds numbers.

    Parameters
    ----------
    polynomial_words (int): words of a polynomial
    joined_for (int): so many lanes: words are pairs of numbers, and `oldest` is a list of numbers;
        or 0

    Attributes
    ----------
    full (int): polynomials that are complete and not released
    filled (int): pairs of the polynomial that is being filled
    """

    def __init__(self, polynomial_words: int = 128, *, joined_for: int = 0):
        self.polynomial_words = polynomial_words
        self.numbers_in_pairs = joined_for > 0
        self.capacity = (
            joined_polynomials(joined_for) if joined_for else BUFFER_WORDS // polynomial_words
        )
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self._complete: deque[list[Any]] = deque()
        self._filling: list[Any] = []
        self._taken: Sample | None = None
        self._restarts = self._releases = False
        self.full = self.filled = 0

    @property
    def room(self) -> bool:
        """A pair can be taken."""
        return self.full != self.capacity

    @property
    def at_last(self) -> bool:
        """The next pair is the last one of its polynomial."""
        return self.filled == self.polynomial_words - 1

    @property
    def oldest(self) -> list[Any]:
        """The oldest complete polynomial: its words, or of several lanes its numbers;
        IndexError if there is none."""
        return self._complete[0]

    def take(self, pair: Sample) -> None:
        """The next pair, in this cycle; only while there is room."""
        assert self.room
        self._taken = pair

    def restart(self) -> None:
        """Forget the polynomial that is being filled."""
        self._restarts = True

    def release(self) -> None:
        """The oldest polynomial is no longer needed; only while there is one."""
        assert self.full
        self._releases = True

    def tick(self) -> None:
        """End of a cycle."""
        if self._releases:
            self._complete.popleft()
        if self._taken is not None:
            self._filling.append(self._taken)
            if len(self._filling) == self.polynomial_words:
                assert not self._restarts
                pairs = self._filling
                self._complete.append([*chain(*pairs)] if self.numbers_in_pairs else pairs)
                self._filling = []
        if self._restarts:
            self._filling = []
        self._taken, self._restarts, self._releases = None, False, False
        self.full, self.filled = len(self._complete), len(self._filling)


class SemaphoreTwin:
    """A Semaphore.

    Attributes
    ----------
    count (int): 0 to `highest`
    """

    def __init__(self, highest: int = HIGHEST):
        self.highest = highest
        self.count = self._change = 0

    @property
    def available(self) -> bool:
        """The count is not 0."""
        return self.count > 0

    def post(self) -> None:
        """Count up; not at the highest."""
        self._change += 1

    def take(self) -> None:
        """Count down; only while available."""
        assert self.available
        self._change -= 1

    def tick(self) -> None:
        """End of a cycle."""
        self.count += self._change
        self._change = 0
        assert 0 <= self.count <= self.highest
