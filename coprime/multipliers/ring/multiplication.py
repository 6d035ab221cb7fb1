"""The function of the multiplier of `ring`, and its cycles."""

from dataclasses import dataclass
from functools import cache

from coprime.model.montgomery import digits

from ..multiplication import READ_LATENCY, Multiplication


@dataclass(frozen=True)
class RingMultiplication(Multiplication):
    """X * Y * 2^(-w*rounds) mod c * M, not fully reduced; with `descale`, mod M.

    c = -M^-1 mod 2^(w(1+d)). D is the number of words of c * M or the number of rounds, whichever
    is larger, and at least `least`.

    Raises ValueError for `tiles`, `delay` or `skew` out of range.

    Parameters
    ----------
    digit_width : w, bits of a word
    latency : cycles from a tile's words to the sum of their products, at least 1
    tiles : 1, or 2: one for X * Y, one for q * M'
    delay : d, words by which q is delayed: 0 or 1
    skew : 1 if the higher bits of one tile's sums arrive a cycle later, else 0
    slack : 2^(w*D) > 2^slack * c * M; 2 or more, for sums that are not reduced
    """

    digit_width: int
    latency: int
    tiles: int = 1
    delay: int = 0
    skew: int = 0
    slack: int = 2

    ASKING = 3  # cycles from `start` until a product may begin, or be found to follow in step D
    canonical = False
    prepares = True
    scaled = True
    banked = True
    overlaps = True

    def __post_init__(self) -> None:
        if self.tiles not in (1, 2):
            raise ValueError(f"tiles must be 1 or 2, not {self.tiles}")
        if self.delay not in (0, 1):
            raise ValueError(f"delay must be 0 or 1, not {self.delay}")
        if not 0 <= self.skew <= 2 - self.tiles:
            raise ValueError(f"skew must be 0 to {2 - self.tiles}, not {self.skew}")

    @property
    def ahead(self) -> int:
        """1 + d: the lowest words of c * M that are -1, and rounds from c * M to M."""
        return 1 + self.delay

    @property
    def scale_bits(self) -> int:
        """Bits of 1 + d words."""
        return self.digit_width * self.ahead

    @property
    def keeps_scaled_modulus(self) -> bool:
        """Only for sums that are not reduced; products have it in a ring."""
        return self.slack > 2

    @property
    def headroom(self) -> int:
        """Bits of c < 2^(w(1+d)) and the slack."""
        return self.slack + self.scale_bits

    @property
    def least(self) -> int:
        """Minimum of D: with fewer words the sums of two successive steps would collide."""
        return 6 if self.delay else 5

    @property
    def reading(self) -> int:
        """Cycles from a slot to its words at a tile.

        One tile has two rings in one memory, which may be block RAM, and a register after it.
        """
        return 2 if self.tiles == 1 else 1

    @property
    def summing(self) -> int:
        """Cycles from words entering the tiles to the tiles' sums that include them."""
        return self.latency

    @property
    def loop(self) -> int:
        """Cycles from a column's last slot to the first one that can use its word.

        The word's factors are read in the slot, enter the tile `reading` cycles later, are in its
        sum `summing` cycles later, in the column's sum a cycle later, and in the ring after that.
        """
        return self.reading + self.summing + 2

    @property
    def least_step(self) -> int:
        """Minimum number of cycles of a step, with two tiles or d = 1.

        Two steps with d = 1, else one, take more than `loop`. In fewer than 5 cycles, or 6 with one
        tile, a step could not read its word of Y, nor add its e_k to the running sum.
        """
        return max(7 - self.tiles, -(-(self.loop + 1) // self.ahead))

    @property
    def asks_earlier(self) -> int:
        """1 if a factor's words are read two steps before the first step that needs them, else 0.

        With one tile and d = 1, pairs with the newest words of X and Y are early in short steps.
        """
        return self.delay if self.tiles == 1 else 0

    def places(self, count: int) -> int:
        """P, steps of a product of D = `count` words: places of the ring."""
        return count + self.ahead

    def words(self, *counts: int) -> int:
        """D, for operands of these numbers of words."""
        return max(*counts, self.least)

    def sum_products(self, count: int) -> int:
        """Maximum products in a tile's sum, for D = `count` words: D - 1 pairs and 2 diagonals.

        A tile that has only those of X and Y has D / 2 pairs and one diagonal; that of q and M' has
        fewer.
        """
        return count + 1 if self.tiles == 1 else count // 2 + 1

    def most_bits(self, products: int) -> int:
        """Bits of the longest modulus for which no sum of a tile has more products than that."""
        count = products - 1 if self.tiles == 1 else 2 * products - 1
        return count * self.digit_width - self.headroom

    def step(self, s: int, count: int) -> int:
        """Cycles of step s, 0 to P - 1, of a product of D = `count` words."""
        if self.tiles == 2:
            return self._step_of_two(s, count)
        return self._step_of_one_delayed(s, count) if self.delay else self._step_of_one(s, count)

    def _step_of_one(self, s: int, count: int) -> int:
        """Cycles of step s with one tile.

        The old product's column has D - 2 - s pairs, or one slot if it has none. The new one's has
        s - 1 pairs that do not need the newest word of q; then two diagonals and the pair that
        needs it, if they exist. The second diagonal also needs the last word of the step before,
        and in steps 0 and 1 the first one may, too.
        """
        (old,) = self.old_slots(s, count)
        if s == count:
            return max(count - 2, self.loop - 1) + 1
        early = s if s < 2 else s - 1
        return max(old + early, self.loop - (1 if s < 2 else 2)) + min(s + 1, 3)

    def _step_of_one_delayed(self, s: int, count: int) -> int:
        """Cycles of step s with one tile and d = 1.

        The new product's column has (s + 1) / 2 pairs of X and Y, in step D + 1 one less, and one
        less in each step from D on, that have none in step 0; and (s - 1) / 2 of q and M'.
        """
        (old,) = self.old_slots(s, count)
        new = (s + 1 >> 1) + max(0, s - 1 >> 1) - max(0, s + 1 - count)
        diagonals = 0 if s >= count else 1 if s < 2 else 2
        return max(old + new + diagonals, self.least_step)

    def _step_of_two(self, s: int, count: int) -> int:
        """Cycles of step s with two tiles: those of the longer one, and at least `least_step`.

        With u = s or s - 1 - d, a tile has (u + 1) / 2 new pairs, the last of which has the newest
        word. From step D on there are no diagonal products, and fewer pairs.
        """
        early = []
        for tile, u in enumerate((s, s - self.ahead)):
            pairs = u + 1 >> 1 if u < count else 2 * count - u - 1 >> 1
            early.append(self.old_slots(s, count)[tile] + max(0, pairs - 1))
        if 0 < s < count:
            return max(*early, self.least_step - 2) + 2
        return max(*early, self.least_step - 1) + 1

    def left(self, count: int) -> int:
        """Columns of a product of D = `count` words that remain when its steps end."""
        return count - self.ahead

    def old_slots(self, s: int, count: int) -> tuple[int, ...]:
        """Slots of the old product's column in step s, in each tile.

        The last tile has at least one, even if it has no pair: the old column ends with it.
        """
        left = self.left(count) - 1 - s  # columns of the old product after this one
        if self.tiles == 1 and self.delay == 0:
            return (max(1, left) if left >= 0 else 0,)
        if self.tiles == 1:
            return ((left >> 1) + (left + self.ahead >> 1) if left >= 0 else 0,)
        return max(0, left >> 1), max(1, left + self.ahead >> 1) if left >= 0 else 0

    @cache  # noqa: B019
    def period(self, count: int) -> int:
        """Cycles from one product to the next one that follows it without a break.

        With one tile and d = 0, D^2 + D for D = `count` words, `loop` + 1 or more. With two tiles,
        about half.
        """
        return sum(self.step(s, count) for s in range(self.places(count)))

    def period_of(self, bits: int) -> int:
        """`period` of products for a modulus of this many bits."""
        return self.period(self.words(digits(bits, self.digit_width, self.headroom)))

    def loading(self, count: int, shift: int = 0) -> int:
        """Cycles to read D = `count` words into a ring, with a 0 after and `shift` before them."""
        return shift + count + 1

    def shift(self, rounds: int, count: int, descale: bool) -> int:
        """Places by which Y is shifted up: the first words of q are then 0."""
        return count - rounds + (self.ahead if descale else 0)

    @property
    def settling(self) -> int:
        """Cycles in which the last words are written to their rings."""
        return self.loop + 1

    @cache  # noqa: B019
    def draining(self, count: int) -> int:
        """Cycles from the end of a product's P steps until its result is in the memory."""
        slots = sum(self.draining_step(s, count) for s in range(self.left(count)))
        return slots + self.settling

    def draining_step(self, s: int, count: int) -> int:
        """Cycles of one of the remaining columns: their slots and one more, or two."""
        return max(self.old_slots(s, count)) + 1 + self.skew

    @property
    def written_after(self) -> int:
        """Cycles from a column's last slot to the request to write its word through port B."""
        return self.reading + self.summing - 1

    @property
    def x_taken_after(self) -> int:
        """Cycles from a column's last slot until no word of X can be requested, since it would
        collide with the column's word of q at their ring."""
        return self.reading + self.summing - READ_LATENCY

    def rounds_after(self, last: int, count: int) -> int:
        """The last cycle of SETTLE and of 1 + d rounds modulo M, after the cycle `last`."""
        read_c, quotient = READ_LATENCY + 2, 1
        columns = (2 + self.skew) * (count + 1) - self.skew
        a_round = quotient + self.settling + columns + self.settling
        return last + self.settling + read_c + self.loading(count) + self.ahead * a_round

    def prepare_cycles(self, inner: int) -> int:
        """Cycles to compute M' of a modulus of `inner` words, the longest one."""
        count = self.words(inner)
        return self.rounds_after(self.ASKING + self.loading(count), count)

    def cycles(self, inner: int, rounds: int, *, descale: bool = False) -> int:
        """Cycles of a single multiplication, which no other one follows without a break."""
        count = self.words(inner, rounds)
        loaded = self.ASKING + self.loading(count, self.shift(rounds, count, descale))
        closes = loaded + self.period(count)
        if descale:
            return self.rounds_after(closes + self.draining(count) - self.settling, count)
        return closes + self.draining(count)

    def products(self, inner: int, rounds: int, *, descale: bool = False) -> int:
        """Products of words that the algorithm needs, each once; those of a round are not counted.

        One tile has D^2 + D - 1, and with d = 1 one less, of which one is 0. With two, the tile of
        X * Y has (D^2 + D) / 2. The other tile has fewer, in the same cycles or in others; they are
        not counted.
        """
        count = self.words(inner, rounds)
        return count * count + count - self.ahead if self.tiles == 1 else count * (count + 1) // 2
