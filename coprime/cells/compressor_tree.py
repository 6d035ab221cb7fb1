"""Compressor tree: many bits, each with a weight, become two vectors of the same sum modulo m.

Source: COMPRESSION (Vassoler 2023), section 2.2.1. The bits form a matrix, a column for each
weight. Level by level, counters are placed: first all 5:3 counters that fit, then full adders, then
half adders, each kind line by line, and in a line column by column from the lowest. A carry out of
the top column returns as the signed digits of its residue: for 2^n - 1 that is the end-around
carry, for 2^n + 1 the inverted carry, for 2^n it is nothing. Three trees are planned, with full
adders only, with 5:3 counters and full adders, and with all three; the tree with the least product
of delay and area, in unit gates, is used.

What differs:

* Where a residue has many digits, more bits can return at once than the level has removed, and the
  thesis's rule may not terminate. So two more schemes are planned: carries stay in extra columns
  above the top one until two rows remain (`Folding.WEIGHTS`), or everything does (`Folding.LAST`).
  Then everything above the top column is folded at once, and the tree continues. The range of the
  matrix's value is tracked, so that a bit whose weight exceeds it is known to be 0, and it is known
  when the rest is small enough for the last adder. The thesis's scheme ends in this way too, where
  it does not terminate on its own.
* When no column has more than three bits, half adders are used in all three trees: one in each
  column that has two bits and gets a carry. Otherwise a carry would rise one column per level.
* The corrections for negative digits form one constant, which the last adder adds; or, where it is
  cheaper, a constant in the matrix brings it to a value that the adder need not add.
"""

import itertools
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from operator import attrgetter
from typing import NamedTuple, TypedDict, Unpack

from amaranth.hdl import Cat, Const, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.model.compression import Digit, Form, Recoding, modulus_form, residue_digits

from .counters import COUNTER_5_3, FULL_ADDER, HALF_ADDER, Counter
from .modular_adder import SUBTRACTIONS, Addition


class Counters(Enum):
    """The counters of the thesis's three trees, by priority."""

    FULL_ADDERS = (FULL_ADDER,)
    NO_HALF_ADDERS = (COUNTER_5_3, FULL_ADDER)
    ALL = (COUNTER_5_3, FULL_ADDER, HALF_ADDER)


class Folding(Enum):
    """When bits above the top column return to the matrix."""

    ALWAYS = "always"  # at once, as in the thesis
    WEIGHTS = "weights"  # the initial bits at once; carries when two rows remain
    LAST = "last"  # when two rows remain


class Bit(NamedTuple):
    """A bit of the matrix: a place in a vector, or the inverse of that."""

    vector: int  # number of the vector: -1 for the constant 1, 0 for the tree's input
    place: int
    inverted: bool
    arrival: int  # unit gates from the tree's inputs

    def inverse(self) -> "Bit":
        """The other one of the two."""
        return Bit(self.vector, self.place, not self.inverted, self.arrival)


ONE = Bit(-1, 0, False, 0)
Columns = list[list[Bit]]
LARGE = 1000  # input bits from which on not every choice is planned that might save a little


@dataclass(frozen=True)
class CounterRow:
    """Counters of one kind beside each other."""

    counter: Counter
    cells: tuple[tuple[Bit, ...], ...]
    """The inputs of each."""
    vectors: tuple[int, ...]
    """Numbers of the vectors that the outputs make, the lowest weight first."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A tree for a modulus and a list of weights: what is placed where, and what comes out.

    The two vectors have the sum least..most, and that + constant is congruent to the sum of the
    input bits.
    """

    modulus: int
    counters: Counters
    folding: Folding
    levels: tuple[tuple[CounterRow, ...], ...]
    columns: tuple[tuple[Bit, ...], ...]  # of the two vectors: at most two bits in each
    least: int
    most: int
    constant: int  # 0 to m - 1

    @property
    def width(self) -> int:
        """Bits of each of the two vectors."""
        return len(self.columns)

    @property
    def depth(self) -> int:
        """Levels of counters."""
        return len(self.levels)

    @property
    def count(self) -> int:
        """Counters in all."""
        return sum(len(row.cells) for level in self.levels for row in level)

    @property
    def counters_by_kind(self) -> tuple[tuple[str, int], ...]:
        """Name of each kind of counter, and how many there are."""
        found: dict[str, int] = {}
        for row in itertools.chain.from_iterable(self.levels):
            found[row.counter.name] = found.get(row.counter.name, 0) + len(row.cells)
        return tuple(sorted(found.items()))

    @cached_property
    def addition(self) -> Addition:
        """What the last adder does, which brings the two vectors to the canonical result."""
        return Addition(
            modulus=self.modulus,
            width=self.width,
            least=self.least,
            most=self.most,
            constant=self.constant,
        )

    @property
    def area(self) -> int:
        """Unit gates, with the last adder, of Brent-Kung networks, no registers: an estimate."""
        counters = sum(row.counter.area * len(row.cells) for level in self.levels for row in level)
        return counters + self.addition.area

    @property
    def delay(self) -> int:
        """Unit gates on the longest path, with the last adder as above: an estimate."""
        arrivals = (bit.arrival for column in self.columns for bit in column)
        return max(arrivals, default=0) + self.addition.delay

    def spaced(self, count: int) -> tuple[int, ...]:
        """Levels in front of which `count` registers divide the path into about equal delays.

        Level k < depth is the k-th level of counters, `depth` is what follows the tree.

        Raises ValueError unless `count` is 0 to depth + 1.
        """
        if count not in range(self.depth + 2):
            raise ValueError(f"registers must be in 0..{self.depth + 1}, not {count}")
        # Time at which the inputs of each level are there.
        delays = [max(max(row.counter.delays) for row in level) for level in self.levels]
        starts = [0, *itertools.accumulate(delays)]
        total = starts[-1] + self.addition.delay
        chosen: list[int] = []
        for part in range(1, count + 1):
            left = count - part  # must find a place after it
            places = range(chosen[-1] + 1 if chosen else 0, self.depth + 1 - left)
            wanted = total * part / (count + 1)
            chosen.append(min(places, key=lambda level: abs(starts[level] - wanted)))
        return tuple(chosen)


class TreeOptions(TypedDict, total=False):
    """Choices for a tree; where an option is not given, the cheapest choice is taken."""

    counters: Counters  # the counters that it consists of
    folding: Folding  # when bits return to the matrix
    recoding: Recoding  # of residues in signed digits; FEWEST by default


def plan_tree(m: int, weights: Sequence[int], **options: Unpack[TreeOptions]) -> Plan:
    """Plan the tree with the least product of delay and area.

    Raises ValueError for a weight below 0, or for no weights.

    Parameters
    ----------
    m (int): modulus, at least 3
    weights (sequence of int): of each input bit: its weight is 2 to the power of that
    """
    if not weights or min(weights) < 0:
        raise ValueError("weights must be numbers of at least 0, and at least one")
    digits = _Digits(m, options.get("recoding", Recoding.FEWEST))
    choices = itertools.product(
        (options["counters"],) if "counters" in options else Counters,
        (options["folding"],) if "folding" in options else _foldings(digits, weights),
    )
    plans = [_Builder(digits, weights, *choice, constant=0).plan() for choice in choices]
    if len(weights) > LARGE:
        plans = [min(plans, key=_cost)]
    return min(
        (other for plan in plans for other in (plan, *_with_constant(plan, digits, weights))),
        key=_cost,
    )


def _foldings(digits: "_Digits", weights: Sequence[int]) -> tuple[Folding, ...]:
    """Ways that are worth planning: the others would not be cheaper, and may take long to plan."""
    lengths = {weight: len(digits.of(weight)) for weight in {*weights, digits.columns}}
    if max(lengths.values()) <= 1:
        return (Folding.ALWAYS,)  # no bit more than there were
    # In a large tree the area goes with the bits, and the others save little of the delay.
    if len(weights) > LARGE and sum(lengths[weight] for weight in weights) > 1.25 * len(weights):
        return (Folding.LAST,)
    return tuple(Folding)


def _cost(plan: Plan) -> int:
    return plan.delay * plan.area


def _with_constant(plan: Plan, digits: "_Digits", weights: Sequence[int]) -> Iterator[Plan]:
    """Plans whose last adder adds no constant, because the matrix contains one."""
    wanted = 1 if modulus_form(plan.modulus).kind is Form.PLUS_ONE else 0
    current, constant = plan, 0
    # A constant changes the tree, and the tree its corrections: a few attempts, or do without.
    for _ in range(4):
        if current.constant == wanted:
            break
        constant = (constant + current.constant - wanted) % plan.modulus
        current = _Builder(digits, weights, plan.counters, plan.folding, constant=constant).plan()
        yield current


class _Digits:
    """Residues of weights, each worked out once."""

    def __init__(self, m: int, recoding: Recoding):
        self.modulus = m
        self.recoding = recoding
        self.columns = modulus_form(m).columns
        self._known: dict[tuple[int, bool], tuple[Digit, ...]] = {}

    def of(self, weight: int, *, smallest: bool = False) -> tuple[Digit, ...]:
        """Digits of the residue: the fewest, or those of the residue of smallest magnitude."""
        key = weight, smallest
        if key not in self._known:
            digits = residue_digits(weight, self.modulus, recoding=self.recoding)
            if smallest and weight >= self.columns:
                residue = pow(2, weight, self.modulus)
                negative = self.modulus - residue
                value, sign = (negative, -1) if negative < residue else (residue, 1)
                digits = tuple((k, sign) for k in range(value.bit_length()) if value >> k & 1)
            self._known[key] = digits
        return self._known[key]


class _Builder:
    """Places counters in a matrix until it has two rows that the last adder can take."""

    def __init__(
        self,
        digits: _Digits,
        weights: Sequence[int],
        counters: Counters,
        folding: Folding,
        *,
        constant: int,
    ):
        """Fill the matrix with the input bits, and a constant of 0 to m - 1."""
        self.digits = digits
        self.modulus = digits.modulus
        self.top = digits.columns
        self.counters, self.folding = counters, folding
        self.levels: list[tuple[CounterRow, ...]] = []
        self.vectors = 1
        self.constant = -constant
        self.columns: Columns = []
        for weight in range(constant.bit_length()):
            if constant >> weight & 1:
                self._put(self.columns, weight, ONE)
        for place, weight in enumerate(weights):
            bit = Bit(0, place, False, 0)
            if folding is Folding.LAST:
                self._put(self.columns, weight, bit)
            else:
                self._fold(self.columns, weight, bit)
        # The value is least..most.
        self.least, self.most = 0, self._sum()

    def plan(self) -> Plan:
        """Build the tree."""
        if self.folding is Folding.ALWAYS:
            self._compress_end_around()
        self._compress()
        while not self._ends():
            self._fold_above()
            self._compress()
        return Plan(
            modulus=self.modulus,
            counters=self.counters,
            folding=self.folding,
            levels=tuple(self.levels),
            columns=tuple(map(tuple, self.columns)),
            least=self.least,
            most=self.most,
            constant=self.constant % self.modulus,
        )

    # --- The matrix -----------------------------------------------------------------------------

    def _put(self, columns: Columns, weight: int, bit: Bit) -> None:
        while len(columns) <= weight:
            columns.append([])
        columns[weight].append(bit)

    def _fold(self, columns: Columns, weight: int, bit: Bit, *, smallest: bool = False) -> None:
        """Put a bit where the digits of its residue are."""
        for column, sign in self.digits.of(weight, smallest=smallest):
            if sign > 0:
                self._put(columns, column, bit)
            else:
                self._put(columns, column, bit.inverse())
                self.constant -= 1 << column

    def _sum(self) -> int:
        """Sum of all weights: what the value cannot exceed."""
        return sum(len(column) << weight for weight, column in enumerate(self.columns))

    def _height(self) -> int:
        return max(map(len, self.columns), default=0)

    def _size(self) -> tuple[int, int]:
        return self._height(), sum(map(len, self.columns))

    def _ends(self) -> bool:
        """Whether the last adder can take what is left, with three subtractions at most.

        2^n needs none: what is above the top column is dropped.
        """
        if self.modulus == 1 << self.top:
            self.columns = self.columns[: self.top]
            self.most = self._sum()
            return True
        start = (self.least + self.constant) % self.modulus
        return (start + self.most - self.least) // self.modulus <= SUBTRACTIONS

    # --- Levels ---------------------------------------------------------------------------------

    def _compress_end_around(self) -> None:
        """Compress, and fold every carry out of the top column, as long as that helps."""
        while self._height() > 2:
            before = self.columns, self.constant, self.vectors
            size = self._size()
            self._level(fold=True)
            if self._size() >= size or (size[0] == 3 and self._height() == 3):
                self.columns, self.constant, self.vectors = before
                self.levels.pop()
                break
        self.least, self.most = 0, self._sum()

    def _compress(self) -> None:
        """Compress to two rows, in as many columns as that takes."""
        while self._height() > 2:
            self._level(fold=False)

    def _level(self, *, fold: bool) -> None:
        """Place a level of counters."""
        self._place(self._closing() if self._height() == 3 else self._lines(), fold=fold)

    def _lines(self) -> Iterator[tuple[Counter, list[int]]]:
        """Yield the counters by priority, line by line: a kind, and the columns that get one."""
        left = [len(column) for column in self.columns]
        for counter in self.counters.value:
            if counter is HALF_ADDER:
                # Of a column that had a pair only, it would be no lower.
                places = [k for k, bits in enumerate(left) if bits == 2 < len(self.columns[k])]
                if places:
                    yield counter, places
                continue
            while True:
                places = [k for k, bits in enumerate(left) if bits >= counter.inputs]
                if not places:
                    break
                for place in places:
                    left[place] -= counter.inputs
                yield counter, places

    def _closing(self) -> Iterator[tuple[Counter, list[int]]]:
        """Yield what brings three rows to two: full adders, and half adders where a carry comes."""
        full: list[int] = []
        half: list[int] = []
        carry = False
        for k, column in enumerate(self.columns):
            if len(column) == 3:
                full.append(k)
            elif len(column) == 2 and carry:
                half.append(k)
            carry = k in (full[-1:] + half[-1:])
        yield FULL_ADDER, full
        if half:
            yield HALF_ADDER, half

    def _place(self, lines: Iterator[tuple[Counter, list[int]]], *, fold: bool) -> None:
        """Place rows of counters; their outputs replace their inputs in the matrix."""
        taken = [0] * len(self.columns)
        rows: list[CounterRow] = []
        made: dict[tuple[Counter, tuple[Bit, ...]], tuple[Bit, ...]] = {}
        outputs: list[tuple[int, Bit]] = []
        for counter, places in lines:
            cells: list[tuple[Bit, ...]] = []
            vectors = tuple(range(self.vectors, self.vectors + counter.outputs))
            for k in places:
                inputs, inverted = _in_order(
                    counter, self.columns[k][taken[k] : taken[k] + counter.inputs]
                )
                taken[k] += counter.inputs
                # A bit with several digits is in several columns, often with the same others.
                if (counter, inputs) not in made:
                    start = inputs[-1].arrival
                    made[counter, inputs] = tuple(
                        Bit(vector, len(cells), False, start + delay)
                        for vector, delay in zip(vectors, counter.delays, strict=True)
                    )
                    cells.append(inputs)
                for carry, bit in enumerate(made[counter, inputs]):
                    outputs.append((k + carry, bit.inverse() if inverted else bit))
            if cells:
                rows.append(CounterRow(counter, tuple(cells), vectors))
                self.vectors += counter.outputs
        columns = [column[used:] for column, used in zip(self.columns, taken, strict=True)]
        for weight, bit in outputs:
            if fold:
                self._fold(columns, weight, bit)
            elif 1 << weight <= self.most:  # else the bit is 0
                self._put(columns, weight, bit)
        self.columns = columns
        self.levels.append(tuple(rows))

    # --- Above the top column -------------------------------------------------------------------

    def _fold_above(self) -> None:
        """Fold all that is above the top column; there are two rows."""
        span = self.most - self.least
        if 2 * self._try_fold(smallest=False) <= span:
            return self._do_fold(smallest=False)
        # One bit in each column above the top one has a smaller range.
        while any(len(column) == 2 for column in self.columns[self.top :]):
            pairs = [k for k in range(self.top, len(self.columns)) if len(self.columns[k]) == 2]
            self._place(iter([(HALF_ADDER, pairs)]), fold=False)
        for smallest in (False, True):
            if self._try_fold(smallest=smallest) < span:
                return self._do_fold(smallest=smallest)
        raise AssertionError(f"the tree for {self.modulus} does not end")

    def _try_fold(self, *, smallest: bool) -> int:
        """How far the value would range."""
        least, most = self._folded_range(smallest=smallest)
        return most - least

    def _do_fold(self, *, smallest: bool) -> None:
        least, most = self._folded_range(smallest=smallest)
        columns = self.columns[: self.top]
        for weight in range(self.top, len(self.columns)):
            for bit in self.columns[weight]:
                self._fold(columns, weight, bit, smallest=smallest)
        self.columns = columns
        self.least, self.most = least, min(most, self._sum())

    def _folded_range(self, *, smallest: bool) -> tuple[int, int]:
        """Range of the value after folding.

        A bit that comes back adds one of two values: what it adds if it is 0, and if it is 1.
        """
        below = sum(len(column) << weight for weight, column in enumerate(self.columns[: self.top]))
        bits = []
        for weight in range(len(self.columns) - 1, self.top - 1, -1):
            digits = self.digits.of(weight, smallest=smallest)
            if_zero = sum(1 << column for column, sign in digits if sign < 0)
            if_one = sum(1 << column for column, sign in digits if sign > 0)
            bits += [(1 << weight, if_zero, if_one)] * len(self.columns[weight])
        if len(bits) > 8:
            return (
                sum(min(if_zero, if_one) for _, if_zero, if_one in bits),
                below + sum(max(if_zero, if_one) for _, if_zero, if_one in bits),
            )
        ranges = []
        for values in itertools.product((0, 1), repeat=len(bits)):
            pairs = list(zip(values, bits, strict=True))
            gone = sum(weight for value, (weight, _, _) in pairs if value)
            back = sum(if_one if value else if_zero for value, (_, if_zero, if_one) in pairs)
            least, most = max(0, self.least - gone), min(below, self.most - gone)
            if least <= most:
                ranges.append((least + back, most + back))
        return min(least for least, _ in ranges), max(most for _, most in ranges)


_BY_ARRIVAL = attrgetter("arrival", "vector", "place", "inverted")


def _in_order(counter: Counter, bits: list[Bit]) -> tuple[tuple[Bit, ...], bool]:
    """Return a counter's inputs, the latest last, and whether its outputs must be inverted.

    Inverting all inputs of a full adder inverts its outputs. So two adders with inputs that are
    each other's inverses become one.
    """
    inputs = sorted(bits, key=_BY_ARRIVAL)
    if counter is FULL_ADDER and inputs[0].inverted and ONE not in inputs:
        return tuple(bit.inverse() for bit in inputs), True
    return tuple(inputs), False


LONGEST = 65535  # bits that a signal may have: Amaranth's netlist numbers them with 16 bits


def _parts(length: int, name: str) -> list[tuple[str, int]]:
    """Names and lengths of the signals that so many bits take; one keeps the name as it is."""
    if length <= LONGEST:
        return [(name, length)]
    starts = range(0, length, LONGEST)
    return [(f"{name}_{k}", min(LONGEST, length - start)) for k, start in enumerate(starts)]


def _whole(parts: Sequence[Signal]) -> Value:
    return parts[0] if len(parts) == 1 else Cat(parts)


def _bit(parts: Sequence[Signal], place: int) -> Value:
    """One bit of a long vector. Amaranth would list all of a concatenation's bits for each."""
    return parts[place // LONGEST][place % LONGEST]


class CompressorTree(wiring.Component):
    """`a` + `b` + plan.constant is congruent modulo m to the sum of 2^weight of the input bits.

    It is combinational, or has a register before each level that `registers` names: `latency` is
    how many these are, and new bits may come in every cycle.

    Raises ValueError for a register before a level that does not exist.

    Parameters
    ----------
    inputs (int): how many input bits there are
    registers (collection of int): level k < plan.depth is the k-th level of counters; plan.depth is
        after the last one

    Members
    -------
    bits (unsigned `inputs` bits, in): in the order of the weights that the plan was made for. More
        than LONGEST are several ports, bits_0 and so on; `inputs` is their concatenation.
    a, b (unsigned plan.width bits, out): their sum is in plan.least..plan.most
    """

    def __init__(self, plan: Plan, inputs: int, *, registers: Collection[int] = ()):
        for level in registers:
            if level not in range(plan.depth + 1):
                raise ValueError(f"registers must be in 0..{plan.depth}, not {level}")
        self.plan = plan
        self.registers = frozenset(registers)
        width = plan.width
        parts = _parts(inputs, "bits")
        super().__init__(
            {name: In(length) for name, length in parts} | {"a": Out(width), "b": Out(width)}
        )
        self._inputs = [getattr(self, name) for name, _ in parts]
        self.inputs: Value = _whole(self._inputs)

    @property
    def latency(self) -> int:
        """Cycles from the bits to the vectors."""
        return len(self.registers)

    def elaborate(self, platform: object) -> Module:
        """Place the counters of the plan, level by level."""
        m = Module()
        vectors: dict[int, Sequence[Signal]] = {0: self._inputs}
        needed = self._needed()

        def value(bit: Bit) -> Value:
            if bit == ONE:
                return Const(1, 1)
            source = _bit(vectors[bit.vector], bit.place)
            return ~source if bit.inverted else source

        for level in range(self.plan.depth + 1):
            vectors = {number: vectors[number] for number in vectors if needed[number] >= level}
            if level in self.registers:
                for number, vector in vectors.items():
                    names = _parts(sum(map(len, vector)), f"vector_{number}")
                    registers = [
                        Signal(length, name=name, reset_less=True) for name, length in names
                    ]
                    m.d.sync += [
                        register.eq(part) for register, part in zip(registers, vector, strict=True)
                    ]
                    vectors[number] = registers
            if level == self.plan.depth:
                break
            for row in self.plan.levels[level]:
                inputs = [
                    Cat(value(cell[k]) for cell in row.cells) for k in range(row.counter.inputs)
                ]
                outputs = row.counter.build(*inputs)
                for number, output in zip(row.vectors, outputs, strict=True):
                    counted = Signal(len(row.cells), name=f"vector_{number}")
                    m.d.comb += counted.eq(output)
                    vectors[number] = [counted]
        for place, vector in enumerate((self.a, self.b)):
            m.d.comb += vector.eq(
                Cat(
                    value(column[place]) if len(column) > place else Const(0, 1)
                    for column in self.plan.columns
                )
            )
        return m

    def _needed(self) -> dict[int, int]:
        """Return the last level that reads each vector; -1 for none."""
        needed = {number: -1 for row in self._rows() for number in row.vectors} | {0: -1}
        for level, rows in enumerate(self.plan.levels):
            for bit in (bit for row in rows for cell in row.cells for bit in cell):
                needed[bit.vector] = level
        for bit in (bit for column in self.plan.columns for bit in column):
            needed[bit.vector] = self.plan.depth
        return needed

    def _rows(self) -> Iterator[CounterRow]:
        return itertools.chain.from_iterable(self.plan.levels)
