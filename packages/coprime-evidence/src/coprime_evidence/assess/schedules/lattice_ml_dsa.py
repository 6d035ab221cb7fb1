"""Transforms and products of ML-DSA on `lattice`: the datapath's schedule, for all polynomials.

Statements, modulo q = 8380417, of what the memory holds after a step, if P, G and the sample S were
in [-q, q) before:

- TRANSFORM: P modulo each X - z_i, z_i = 1753^(2 BitRev8(i) + 1): the transform of FIPS 204,
  section 7.5; with `sample` that of S
- MULTIPLY: P G, S G, or with `add` P + S G, of products k^2 = 1023^2 times, which is what two K-RED
  steps leave of a product of two variables; with `subtract` their differences
- INVERSE, LAST: the polynomial with the transform P / k^2
- SUM: P + G, P + S, or their differences; of G, or of P with `sample`, also one of the two small
  numbers that share one

All results are in [-q, q). A place in memory is any: P, G and the result's are names of different
places, so that a case stands for all regions.

A product in two passes of 17 and 7 bits, and both steps of the reduction, are sums of parts of
numbers, in which the quotients of powers of two cancel. Only SharedPart is examined alone, for
every operand there is, and LargeSlots, for every state in which a wipe may meet it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import process_time

from coprime.lattice.arithmetic.large_bytes import PackedForm
from coprime.lattice.arithmetic.large_datapath import LargeDatapath
from coprime.lattice.arithmetic.large_steps import (
    FOLLOWS,
    PAIR_SHIFT,
    LargeKind,
    LargeStep,
    Part,
    large_step_layout,
    large_table,
)
from coprime.lattice.arithmetic.number_packer import BITS_A_CYCLE, ML_DSA_WIDTHS
from coprime.lattice.arithmetic.parallel_large_datapath import ParallelLargeDatapath
from coprime.model.lattice.large_arithmetic import NUMBER_BITS, ROOT, K, N, bit_reversed
from coprime.model.lattice.ml_dsa_sets import Q

from .lattice_steps import (
    DRAINS,
    QUIET,
    Case,
    ExecutedStep,
    Following,
    ProvedDatapath,
    Prover,
    Ring,
    Top,
    constant,
    port_names,
    prove_cases,
    slot_counter,
)
from .moved_numbers import Combination
from .moved_words import Bits, Form, Number, value_of
from .theorem import ScheduleProof

RING = Ring(Q, N, [pow(ROOT, 2 * bit_reversed(i) + 1, Q) for i in range(N)])
"""With z_i of FIPS 204."""
SMALL = 255
"""The largest magnitude of two numbers that share one."""
_SMALL_SYMBOLS = 4 * N
"""From this symbol on numbers are small."""
DEBT_BITS = (2 * max(ML_DSA_WIDTHS) - 1).bit_length()
"""Of what ParallelLargeSlots waits for."""
_NOTHING: list[Form] = [{}] * N


class PartModule(Combination):
    """SharedPart: a number, or x or y of x + 2^9 y modulo q, both small."""

    module, output = "part", "found"

    def found(self, inputs: Mapping[str, Bits]) -> Bits:
        """As of Combination."""
        bits, part = inputs["number"], value_of(inputs["part"], signed=False)
        number = value_of(bits)
        if part == Part.WHOLE.value:
            return bits
        if isinstance(number, Number) and number.low >= -Q and number.high < Q:
            place = {Part.LOW.value: 1, Part.HIGH.value: 1 << PAIR_SHIFT}
            symbols = {weight: monomial for monomial, weight in number.form.items()}
            small = all(len(k) == 1 and k[0] >= _SMALL_SYMBOLS for k in number.form)
            if small and part in place and set(symbols) == {*place.values()}:
                found = Number(-SMALL, SMALL, {symbols[place[part]]: 1})
                return found.bits(NUMBER_BITS)
        return (None,) * NUMBER_BITS


# --- Cases ----------------------------------------------------------------------------------------


class AnyRegion:
    """A polynomial's place in memory, of any number.

    Parameters
    ----------
    name : for errors
    symbol : of its number, which no polynomial has
    """

    def __init__(self, name: str, symbol: int) -> None:
        self.name, self.number = name, Number(0, N, {(symbol,): 1})

    def __str__(self) -> str:
        return self.name


P, G, RESULT = AnyRegion("P", -1), AnyRegion("G", -2), AnyRegion("another one", -3)
OTHER = AnyRegion("G'", -4)
"""Different ones."""


@dataclass(frozen=True)
class AnyStep:
    """Steps with these fields, whatever the other ones are: those that are None.

    Attributes
    ----------
    kind, sample, add, subtract, part, width : of LargeStep
    form : the same, or another one with the same lowest bit, if that is 1, or lowest two bits
    region, other, into : its regions
    """

    kind: LargeKind
    region: AnyRegion | None = None
    other: AnyRegion | None = None
    into: AnyRegion | None = None
    sample: bool | None = None
    add: bool | None = None
    subtract: bool | None = None
    part: Part | None = None
    width: int | None = None
    form: PackedForm | None = None

    def cycles_on(self, lanes: int) -> int:
        """As of LargeStep."""
        return self._one().cycles_on(lanes)

    def slots(self, lanes: int) -> int:
        """As of LargeStep."""
        return self._one().slots(lanes)

    def fields(self) -> dict[str, object]:
        """As of LargeStep."""
        regions = {"region": self.region, "other": self.other, "into": self.into}
        named = {name: region.number for name, region in regions.items() if region is not None}
        width = None if self.width is None else ML_DSA_WIDTHS.index(self.width)
        form: Bits | None = None
        if self.form is not None:
            form = (1, None, None) if self.form.value & 1 else (*constant(self.form.value, 2), None)
        return {**vars(self), **dict.fromkeys(regions), **named, "width": width, "form": form}

    def _one(self) -> LargeStep:
        width, form = self.width or ML_DSA_WIDTHS[0], self.form or PackedForm.BELOW
        return LargeStep(self.kind, 0, width=width, form=form)


def cases(lanes: int = 1) -> Iterator[Case]:
    """What is proved: every step of the programs but those with bytes. With several lanes products
    may follow each other."""
    f = RING.polynomial(0)
    for sample in (False, True):
        step = AnyStep(LargeKind.TRANSFORM, region=P, into=P, sample=sample)
        words: Mapping[AnyRegion, Sequence[Form]] = {} if sample else {P: f}
        name = f"TRANSFORM of {'S to P' if sample else 'P'}"
        yield Case(name, [step], words, {P: RING.transform(f)}, f if sample else None)
    back = RING.scaled(RING.inverse(f), pow(K, -2, Q))
    steps = [AnyStep(kind, region=P, into=P) for kind in (LargeKind.INVERSE, LargeKind.LAST)]
    yield Case("INVERSE and LAST of P", steps, {P: f}, {P: back})
    for into in (P, RESULT):
        for subtract in (False, True):
            yield from products(into, subtract)
            for part in Part:
                yield from sums(into, subtract, part)
    if lanes > 1:
        yield from following_products(lanes)


def following_products(lanes: int) -> Iterator[Case]:
    """Of MULTIPLY: S' G' is added to what it makes. The second product starts in each cycle in
    which it may before the first one is done, or later, with `step` changed as early."""
    old, g, sampled, other, second = (RING.polynomial(k * N) for k in range(5))
    one, two = (
        RING.scaled(RING.product(*factors), K * K) for factors in ((sampled, g), (second, other))
    )
    for add in (False, True):
        first = AnyStep(LargeKind.MULTIPLY, P, G, P, True, add, False)
        after = AnyStep(LargeKind.MULTIPLY, P, OTHER, P, True, True, False)
        found = RING.sums(old if add else _NOTHING, one)
        drain = first.cycles_on(lanes) - first.slots(lanes)
        for start in (*range(1, drain - FOLLOWS + 1), None):
            yield Case(
                f"P = {'P ' if add else ''}+ S G"
                + ("" if start is None else f" + S' G', {start} cycles after `follows`"),
                [first],
                {P: old, G: g, OTHER: other},
                {P: found if start is None else RING.sums(found, two)},
                sampled,
                following=Following(after, second, start),
            )


def products(into: AnyRegion, subtract: bool) -> Iterator[Case]:
    """Of MULTIPLY."""
    old, g, sampled = (RING.polynomial(k * N) for k in range(3))
    for sample, add in ((False, False), (True, False), (True, True)):
        step = AnyStep(LargeKind.MULTIPLY, P, G, into, sample, add, subtract)
        found = RING.scaled(RING.product(sampled if sample else old, g), K * K)
        expected = RING.sums(old if add else _NOTHING, found, -1 if subtract else 1)
        name = f"{'P ' if add else ''}{'-' if subtract else '+'} {'S' if sample else 'P'} G"
        taken = sampled if sample else None
        yield Case(f"{into} = {name}", [step], {P: old, G: g}, {into: expected}, taken)


def sums(into: AnyRegion, subtract: bool, part: Part) -> Iterator[Case]:
    """Of SUM."""
    first, second = (RING.polynomial(k * N) for k in range(2))
    low, high = (RING.polynomial(_SMALL_SYMBOLS + k * N) for k in range(2))
    shared = RING.sums(low, RING.scaled(high, 1 << PAIR_SHIFT))
    small = {Part.LOW: low, Part.HIGH: high}.get(part)
    sign = -1 if subtract else 1
    for sample in (False, True):
        step = AnyStep(
            *(LargeKind.SUM, P, None if sample else G, into, sample),
            subtract=subtract,
            part=part,
        )
        if sample:  # part(P) and S
            words = {P: first if small is None else shared}
            expected = RING.sums(first if small is None else small, second, sign)
        else:  # P and part(G)
            words = {P: first, G: second if small is None else shared}
            expected = RING.sums(first, second if small is None else small, sign)
        terms = ("P", "S") if sample else ("P", "G")
        name = f" {'-' if subtract else '+'} ".join(terms)
        if small is not None:
            name += f", of {terms[0 if sample else 1]} the {part.name.lower()} part"
        taken = second if sample else None
        yield Case(f"{into} = {name}", [step], words, {into: expected}, taken)


# --- The proof ------------------------------------------------------------------------------------


def every_step(lanes: int) -> Iterator[AnyStep]:
    """All there are; but with several lanes no wide numbers are packed that are not in pairs."""
    forms = (PackedForm.HIGH, PackedForm.BELOW, PackedForm.TOP)
    for kind in LargeKind:
        with_bytes = kind in (LargeKind.UNPACK, LargeKind.PACK)
        by_form = kind is LargeKind.PACK and lanes > 1
        for width in ML_DSA_WIDTHS if with_bytes else (None,):
            for form in forms if by_form else (None,):
                if form is not PackedForm.HIGH or width is None or width <= BITS_A_CYCLE:
                    yield AnyStep(kind, width=width, form=form)


def subject(datapath: LargeDatapath | ParallelLargeDatapath) -> ProvedDatapath:
    """ML-DSA's datapath of an engine."""
    lanes, constants = 1, "table_word"
    if isinstance(datapath, ParallelLargeDatapath):
        lanes, constants = len(datapath.lanes), "table_words"
    rows = N // lanes
    return ProvedDatapath(
        component=Top(datapath, "wide"),
        modules=[PartModule],
        ring=RING,
        layout=large_step_layout(datapath.regions),
        tables={
            name: [constant(word, NUMBER_BITS) for word in large_table(lane, lanes).words]
            for lane, name in enumerate(port_names(constants, lanes))
        },
        samples=port_names("sample", lanes),
        numbers=1,
        number_bits=NUMBER_BITS,
        places=lambda region: [(region.number, rows.bit_length() - 1, k) for k in range(rows)],
        every=list(every_step(lanes)),
        wipe=_wipe,
        settles=0,
        idle={"busy": 0, "wiping": 0},
        follows_in=lambda step: _follows_in(step, lanes),
    )


def _follows_in(step: ExecutedStep, lanes: int) -> int | None:
    if lanes == 1 or not isinstance(step, AnyStep) or step.kind is not LargeKind.MULTIPLY:
        return None
    return step.slots(lanes) - 1 + FOLLOWS


def _wipe(prover: Prover) -> None:
    """From any state that has been idle for so long, with the slots of whole layers counted: the
    end of a wipe, as `check_wiped_slots` shows."""
    prover.forget_registers()
    name, layer_bits = slot_counter(prover.subject.lanes)
    prover.machine.hold(f"datapath.slots.{name}", (0,) * layer_bits)
    if prover.subject.lanes > 1:
        prover.machine.hold("datapath.slots.debt", (0,) * DEBT_BITS)
    for _ in range(DRAINS):
        prover.machine.step(QUIET | {"start": (0,)})
    prover.idle()


def prove_ml_dsa(
    datapath: LargeDatapath | ParallelLargeDatapath, memory_words: int
) -> ScheduleProof:
    """Prove every case, and the modules; ProofError with what does not hold. A wipe clears these
    words and those of each lane, one in each cycle."""
    from .lattice_stages import check_shared_part, check_wiped_slots  # NumPy takes time to import

    start, proved = process_time(), subject(datapath)
    check_shared_part()
    check_wiped_slots(datapath.regions, proved.lanes, memory_words)
    return prove_cases(Prover(proved), cases(proved.lanes), start)
