"""Turns formulas, as the papers print them, into steps, with a bank and a block for each number.

A formula is a text of assignments, `t0=X1*X2 t3=t1+t2`, each of which becomes a step. In two banks
a product's multiplicand is left and its multiplier right. The factors of each product are ordered
so that as few numbers as possible are needed in both banks; these are written to both at once,
which takes no further cycles. Differences add the multiple of the modulus that keeps them positive:
nothing is reduced.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from coprime.program.builder import Builder
from coprime.program.operands import SWAPPED_BY_BIT, Context, Location, Scratch
from coprime.program.steps import MOST_TIMES_MODULUS, Step


class Temporary(Scratch):
    """LEFT_k and RIGHT_k, which have one block of both banks: intermediate values of formulas."""

    LEFT_0 = 127
    RIGHT_0 = 128
    LEFT_1 = 129
    RIGHT_1 = 130
    LEFT_2 = 131
    RIGHT_2 = 132
    LEFT_3 = 133
    RIGHT_3 = 134
    LEFT_4 = 135
    RIGHT_4 = 136
    LEFT_5 = 137
    RIGHT_5 = 138
    LEFT_6 = 139
    RIGHT_6 = 140
    LEFT_7 = 141
    RIGHT_7 = 142


_LEFT, _RIGHT = 0, 1
_PRODUCT, _SUM, _DIFFERENCE = "*", "+", "-"
_QUARTERS = 4


@dataclass(frozen=True)
class NumberPlace:
    """Where a number is: in the left bank, in the right one, or in both, in one block.

    Parameters
    ----------
    left, right : None where it is not in that bank
    below : how many times c * M it is at most
    """

    left: Location | None = None
    right: Location | None = None
    below: Fraction | int = 1

    def side(self, bank: int) -> Location | None:
        """Its location in a bank."""
        return self.right if bank else self.left

    @property
    def any(self) -> Location:
        """A location of it."""
        found = self.left or self.right
        assert found is not None
        return found


TEMPORARIES = tuple(
    NumberPlace(Temporary[f"LEFT_{k}"], Temporary[f"RIGHT_{k}"]) for k in range(len(Temporary) // 2)
)


@dataclass(eq=False)
class _Number:
    """A number of a formula: given, or made by one of its assignments."""

    name: str
    place: NumberPlace | None = None
    fixed: bool = False
    """It has a place of its own, as an input or as a result."""
    sides: set[int] = field(default_factory=set)
    """The banks in which products read it."""
    last_use: int = -1
    below: Fraction = Fraction(1)


@dataclass(eq=False)
class _Assignment:
    sign: str
    result: _Number
    x: _Number
    y: _Number
    text: str
    turned: bool = False
    """The multiplicand is y."""

    @property
    def factors(self) -> tuple[_Number, _Number]:
        return (self.y, self.x) if self.turned else (self.x, self.y)


def formula(
    text: str,
    places: Mapping[str, NumberPlace],
    results: Mapping[str, NumberPlace],
    *,
    headroom: int,
    context: Context,
    temporaries: Sequence[NumberPlace] = TEMPORARIES,
    by_bit: bool = False,
) -> list[Step]:
    """The steps of a formula.

    Parameters
    ----------
    text : assignments of a product, a sum or a difference of two names to a name
    places : of the numbers that are given, by their names
    results : of those that it is for: their last assignments go there
    headroom : R is 2^headroom * c * M or more
    context : the modulus
    temporaries : for the others
    by_bit : what changes places by the exponent's bit is meant as it lies then

    Raises ValueError where there are too few temporaries, or a result is written over a number that
    is read later.
    """
    return _Compiler(text, places, results, headroom, context, temporaries, by_bit).steps()


class _Compiler:
    def __init__(
        self,
        text: str,
        places: Mapping[str, NumberPlace],
        results: Mapping[str, NumberPlace],
        headroom: int,
        context: Context,
        temporaries: Sequence[NumberPlace],
        by_bit: bool,
    ):
        self.context, self.by_bit, self.temporaries = context, by_bit, temporaries
        self.headroom = headroom
        self.given = {
            name: _Number(name, place, fixed=True, below=Fraction(place.below))
            for name, place in places.items()
        }
        self.assignments = self._parsed(text)
        last = {assignment.result.name: assignment.result for assignment in self.assignments}
        for name, place in results.items():
            last[name].place, last[name].fixed = place, True
        self._turn()
        self._find_last_uses()

    def _parsed(self, text: str) -> list[_Assignment]:
        known = dict(self.given)
        found = []
        for step in text.split():
            target, expression = step.split("=")
            sign = next(
                character for character in expression if character in (_PRODUCT, _SUM, _DIFFERENCE)
            )
            x, y = (known[name] for name in expression.split(sign))
            known[target] = _Number(target)
            found.append(_Assignment(sign, known[target], x, y, step))
        return found

    def _turn(self) -> None:
        """Choose each product's multiplicand; first where there is no choice."""
        products = [assignment for assignment in self.assignments if assignment.sign == _PRODUCT]
        for product in products:
            if product.x is product.y:
                product.x.sides.add(_LEFT)
        while products:
            costs = {
                product: (self._cost(product, False), self._cost(product, True))
                for product in products
            }
            # The one whose two ways differ most comes next.
            chosen = max(products, key=lambda product: abs(costs[product][0] - costs[product][1]))
            chosen.turned = costs[chosen][1] < costs[chosen][0]
            if chosen.x is not chosen.y:
                multiplicand, multiplier = chosen.factors
                multiplicand.sides.add(_LEFT)
                multiplier.sides.add(_RIGHT)
            products.remove(chosen)

    @staticmethod
    def _cost(product: _Assignment, turned: bool) -> int:
        """Places more that a product takes."""
        if product.x is product.y:
            return 0
        factors = (product.y, product.x) if turned else (product.x, product.y)
        cost = 0
        for bank, factor in enumerate(factors):
            if factor.place is not None:
                cost += 100 * (factor.place.side(bank) is None)
            elif bank not in factor.sides:
                cost += 2 if factor.sides else 1
        multiplier, result = factors[1].place, product.result.place
        if multiplier and result and multiplier.right and multiplier.right is result.right:
            cost += 100  # a product is not written over its multiplier
        return cost

    def _find_last_uses(self) -> None:
        for k, assignment in enumerate(self.assignments):
            for number in (assignment.x, assignment.y):
                number.last_use = k

    def steps(self) -> list[Step]:
        """One for each assignment."""
        free = [{place.side(bank) for place in self.temporaries} for bank in (_LEFT, _RIGHT)]
        code = Builder(self.context)
        for k, assignment in enumerate(self.assignments):
            ended = [number for number in (assignment.x, assignment.y) if number.last_use == k]
            # A product may be written over its multiplicand, and not over its multiplier.
            is_product = assignment.sign == _PRODUCT and assignment.x is not assignment.y
            kept = [number for number in ended if is_product and number is assignment.factors[1]]
            for number in ended:
                if number not in kept:
                    self._release(number, free)
            if assignment.result.place is None:
                assignment.result.place = self._temporary(assignment.result, free)
            self._check_kept(assignment, k)
            self._write(assignment, code)
            for number in kept:
                self._release(number, free)
        return code.steps

    @staticmethod
    def _release(number: _Number, free: list[set[Location | None]]) -> None:
        """What a number held is free for others; an input's own place is not."""
        if number.fixed:
            return
        assert number.place is not None
        for bank in (_LEFT, _RIGHT):
            if number.place.side(bank) is not None:
                free[bank].add(number.place.side(bank))

    def _temporary(self, number: _Number, free: list[set[Location | None]]) -> NumberPlace:
        """A place in the banks that products read it in; of one bank, if it can be, beside one
        that is taken."""
        sides = number.sides or {_LEFT}
        fitting = [
            place
            for place in self.temporaries
            if all(place.side(bank) in free[bank] for bank in sides)
        ]
        if not fitting and not number.sides:
            sides = {_RIGHT}
            fitting = [place for place in self.temporaries if place.right in free[_RIGHT]]
        if not fitting:
            raise ValueError(f"{number.name} has no temporary left")
        others = {_LEFT, _RIGHT} - sides
        chosen = min(
            fitting, key=lambda place: sum(place.side(bank) in free[bank] for bank in others)
        )
        for bank in sides:
            free[bank].remove(chosen.side(bank))
        return NumberPlace(
            chosen.left if _LEFT in sides else None, chosen.right if _RIGHT in sides else None
        )

    def _check_kept(self, assignment: _Assignment, k: int) -> None:
        """A result's own place may hold an input; what is read later must not be written over."""
        written = self._locations(assignment.result)
        later = {number for each in self.assignments[k + 1 :] for number in (each.x, each.y)}
        made = {each.result for each in self.assignments[k + 1 :]} | {assignment.result}
        for number in later - made:
            if number.place is not None and not written.isdisjoint(self._locations(number)):
                raise ValueError(
                    f"{assignment.text} is written over {number.name}, which is read later"
                )
        if assignment.sign == _PRODUCT and assignment.x is not assignment.y:
            factor = assignment.factors[1].place
            if factor is not None and factor.right in written:
                raise ValueError(f"{assignment.text} is written over its multiplier")

    @staticmethod
    def _locations(number: _Number) -> set[Location]:
        assert number.place is not None
        return {
            location for location in (number.place.left, number.place.right) if location is not None
        }

    def _write(self, assignment: _Assignment, code: Builder) -> None:
        place = assignment.result.place
        assert (
            place is not None and assignment.x.place is not None and assignment.y.place is not None
        )
        x, y = assignment.x.place.any, assignment.y.place.any
        if assignment.sign == _PRODUCT:
            assignment.result.below = _rounded(
                1 + assignment.x.below * assignment.y.below / (1 << self.headroom)
            )
            left, right = assignment.factors
            assert left.place is not None and right.place is not None
            multiplicand = left.place.left
            multiplier = multiplicand if assignment.x is assignment.y else right.place.right
            if multiplicand is None or multiplier is None:
                raise ValueError(f"the factors of {assignment.text} do not lie apart")
            code.multiply(place.any, multiplicand, multiplier, assignment.text)
            x, y = multiplicand, multiplier
        elif assignment.sign == _SUM:
            assignment.result.below = assignment.x.below + assignment.y.below
            code.add(place.any, x, y, assignment.text)
        else:
            powers = (1 << k for k in itertools.count())
            times = next(power for power in powers if power >= assignment.y.below)
            if times > MOST_TIMES_MODULUS:
                raise ValueError(f"{assignment.text} would add {times} times the modulus")
            assignment.result.below = assignment.x.below + times
            code.subtract(place.any, x, y, assignment.text, times_modulus=times)
        copy = place.right if place.left is not None else None
        swaps = any(each in SWAPPED_BY_BIT for each in (x, y, place.any, copy))
        code.amend(copy=copy, by_bit=self.by_bit and swaps)


def _rounded(below: Fraction) -> Fraction:
    """Upwards to quarters, as the bounds of programs are."""
    return Fraction(-(-below * _QUARTERS // 1), _QUARTERS)
