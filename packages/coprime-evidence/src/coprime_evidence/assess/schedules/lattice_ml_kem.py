"""Transforms and products of ML-KEM on `lattice`: the datapath's schedule, for all polynomials.

Statements, modulo q = 3329, of what the memory holds after a step, if it held f, g or F before:

- TRANSFORM: F_2i + F_2i+1 X = f modulo X^2 - z_i, z_i = 17^(2 BitRev7(i) + 1): the transform of
  FIPS 203, equations 4.12 and 4.13
- PAIR, MULTIPLY: 169 F G modulo each X^2 - z_i, FIPS 203's algorithm 11; with `add` plus the last
  result. 169 = k^2 is what two K-RED steps leave of a product of two variables
- INVERSE, LAST: the polynomial with the transform F / 169
- EXACT_SUM: ACCUMULATOR / 169 + EXTRA

All of them hold for numbers in [-q, q), and results are in [-q, q). Reduction and LaneSums are
modules that are examined alone, for every operand there is.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from time import process_time

from coprime.lattice.arithmetic.datapath import Datapath
from coprime.lattice.arithmetic.parallel_datapath import ParallelDatapath
from coprime.lattice.arithmetic.results import DEPTH
from coprime.lattice.arithmetic.steps import STEP, PolynomialStep, Region, StepType
from coprime.lattice.arithmetic.table import TABLE_BITS, table_words
from coprime.model.lattice.arithmetic import (
    LANE_BITS,
    LAYERS,
    PRODUCT_BITS,
    REDUCED,
    ROOT,
    WORDS,
    K,
    N,
    Q,
    bit_reversed,
    corrected,
    reduced,
)

from .lattice_steps import (
    DRAINS,
    QUIET,
    Case,
    ProvedDatapath,
    Prover,
    Ring,
    Top,
    constant,
    port_names,
    prove_cases,
)
from .moved_numbers import Stage
from .moved_words import Bits, Number, Place, Value, added, form_of, value_of
from .theorem import ScheduleProof

_ROOTS = 4 * WORDS
"""Where the products with roots begin."""


class ReductionStage(Stage):
    """Reduction: 169 t, two cycles later."""

    module, outputs = "reduction", ("second",)

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """As of Stage."""
        self.first: Value | None = None
        self.second: Value | None = None

    def step(self, inputs: Mapping[str, Bits]) -> None:
        """As of Stage."""
        clear = inputs["clear"]
        self.second = 0 if clear == (1,) else _reduced(self.first) if clear == (0,) else None
        self.first = value_of(inputs["t"])

    def words(self) -> Mapping[str, Bits]:
        """As of Stage."""
        return {"second": _lane(self.second)}


class SumsStage(Stage):
    """LaneSums: x + y and x - y in [-q, q), two cycles later, for x and y in [-q, q)."""

    module, outputs = "sums", ("sum", "difference")

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """As of Stage."""
        self.pair: tuple[Value | None, Value | None] = (None, None)
        self.found: tuple[Value | None, Value | None] = (None, None)

    def step(self, inputs: Mapping[str, Bits]) -> None:
        """As of Stage."""
        self.found = (_sum(*self.pair, 1), _sum(*self.pair, -1))
        before, reduced, expanded = (
            value_of(inputs[name]) for name in ("before", "reduced", "expanded")
        )
        y = before if inputs["later"] == (0,) else None
        if inputs["later"] == (1,):
            y = reduced if expanded == 0 else expanded if reduced == 0 else None
        self.pair = (value_of(inputs["x"]), y)

    def words(self) -> Mapping[str, Bits]:
        """As of Stage."""
        return dict(zip(self.outputs, map(_lane, self.found), strict=True))


def _reduced(t: Value | None) -> Value | None:
    if not isinstance(t, Number):
        return None if t is None else reduced(t)
    assert t.width <= PRODUCT_BITS
    form = {monomial: K * K * x % Q for monomial, x in t.form.items()}
    return Number(-REDUCED, REDUCED, form)


def _sum(x: Value | None, y: Value | None, sign: int) -> Value | None:
    if x is None or y is None or not (_is_lane(x) and _is_lane(y)):
        return None
    if isinstance(x, int) and isinstance(y, int):
        return corrected(x + sign * y)
    return Number(-Q, Q - 1, added(form_of(x, Q), form_of(y, Q), sign, Q))


def _is_lane(value: Value) -> bool:
    low, high = (value, value) if isinstance(value, int) else (value.low, value.high)
    return low >= -Q and high < Q


def _lane(value: Value | None) -> Bits:
    if isinstance(value, Number):
        return value.bits(LANE_BITS)
    return tuple(None if value is None else value >> k & 1 for k in range(LANE_BITS))


# --- Cases --------------------------------------------------------------------------------------

RING = Ring(Q, N, [pow(ROOT, 2 * bit_reversed(i, LAYERS) + 1, Q) for i in range(WORDS)])
"""With z_i of FIPS 203: 17^(2 BitRev7(i) + 1)."""


def cases(lanes: int = 1) -> Iterator[Case]:
    """What is proved: steps of every region, with every option but bytes."""
    f, g, old = RING.polynomial(0), RING.polynomial(N), RING.polynomial(2 * N)
    accumulator, extra = Region.ACCUMULATOR, Region.EXTRA
    less = pow(K, -2, Q)
    for region in Region:
        name, back = region.name, RING.scaled(RING.inverse(f), less)
        step = PolynomialStep(StepType.TRANSFORM, region)
        yield Case(f"TRANSFORM of {name}", [step], {region: f}, {region: RING.transform(f)})
        step = PolynomialStep(StepType.TRANSFORM, region, sample=True)
        yield Case(f"TRANSFORM to {name}", [step], {}, {region: RING.transform(f)}, sample=f)
        steps = [PolynomialStep(kind, region) for kind in (StepType.INVERSE, StepType.LAST)]
        yield Case(f"INVERSE and LAST of {name}", steps, {region: f}, {region: back})
    for j, region in enumerate(Region):
        if region in (accumulator, extra):
            continue
        roots = _places(range(_ROOTS + j * WORDS // 2, _ROOTS + (j + 1) * WORDS // 2), lanes)
        found = RING.scaled(RING.product(f, g), K * K)
        for add in (False, True):
            steps = [
                PolynomialStep(StepType.PAIR, region),
                PolynomialStep(StepType.MULTIPLY, region, sample=True, add=add),
            ]
            words = {region: g, accumulator: old} if add else {region: g}
            expected = {accumulator: RING.sums(old, found) if add else found}
            name = f"PAIR and MULTIPLY of {region.name}{', with add' if add else ''}"
            yield Case(name, steps, words, expected, sample=f, scratch=frozenset(roots))
    step = PolynomialStep(StepType.EXACT_SUM)
    found = RING.sums(RING.scaled(f, less), g)
    yield Case("EXACT_SUM", [step], {accumulator: f, extra: g}, {accumulator: found})


# --- The proof ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _AnyStep:
    """Steps of a kind, whatever their region and their other options are."""

    kind: StepType
    sample: bool

    def cycles_on(self, lanes: int) -> int:
        return PolynomialStep(self.kind, sample=self.sample).cycles_on(lanes)

    def fields(self) -> dict[str, object]:
        return {"kind": self.kind, "sample": self.sample}


def subject(datapath: Datapath | ParallelDatapath) -> ProvedDatapath:
    """ML-KEM's datapath of an engine."""
    lanes, constants = 1, "table_word"
    if isinstance(datapath, ParallelDatapath):
        lanes, constants = datapath.count, "table_words"
    return ProvedDatapath(
        component=Top(datapath, "narrow"),
        modules=[ReductionStage, SumsStage],
        ring=RING,
        layout=STEP,
        tables={
            name: [constant(word, TABLE_BITS) for word in table_words(lane, lanes)]
            for lane, name in enumerate(port_names(constants, lanes))
        },
        samples=port_names("sample", lanes),
        numbers=2,
        number_bits=LANE_BITS,
        places=lambda region: _places(
            range(region.value * WORDS, (region.value + 1) * WORDS), lanes
        ),
        every=[_AnyStep(kind, sample) for kind in StepType for sample in (False, True)],
        wipe=_wipe,
        settles=2,
    )


def _places(addresses: range, lanes: int) -> list[Place]:
    """Those of words, in each of the lanes that have them."""
    bits = (DEPTH // lanes - 1).bit_length()
    rows = range(addresses.start // lanes, addresses.stop // lanes)
    return [(None, bits, address) for address in rows]


def _wipe(prover: Prover) -> None:
    """From any state at all."""
    machine = prover.machine
    prover.forget_registers()
    machine.step(QUIET | {"wipe": (1,), "start": (0,)})
    for _ in range(DRAINS):  # far fewer than it takes
        machine.step(QUIET | {"wiping": (1,), "start": (0,)})
    prover.idle()


def prove_ml_kem(datapath: Datapath | ParallelDatapath) -> ScheduleProof:
    """Prove every case, and the stages; ProofError with what does not hold."""
    from .lattice_stages import check_reduction, check_sums  # NumPy takes time to import

    start = process_time()
    check_reduction()
    check_sums()
    proved = subject(datapath)
    return prove_cases(Prover(proved), cases(proved.lanes), start)
