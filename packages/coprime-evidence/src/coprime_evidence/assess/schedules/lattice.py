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

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import process_time

from amaranth.hdl import Shape

from coprime.lattice.arithmetic.datapath import Datapath
from coprime.lattice.arithmetic.steps import STEP, PolynomialStep, Region, StepType
from coprime.lattice.arithmetic.table import TABLE_BITS, table_words
from coprime.model.lattice.arithmetic import (
    LANE_BITS,
    PRODUCT_BITS,
    REDUCED,
    ROOT,
    WORDS,
    K,
    N,
    Q,
    corrected,
    reduced,
)

from .moved_numbers import (
    Bit,
    Bits,
    Form,
    MovedNumbers,
    Number,
    Stage,
    Value,
    added,
    form_of,
    multiplied,
    value_of,
)
from .symbols import ProofError
from .theorem import ScheduleProof

FAMILY, SCHEME = "lattice", "ml-kem"
STATEMENT = "the transforms of FIPS 203, their inverses, products and sums, modulo 3329"
_SETTLES = 2
"""Cycles after `done` in which the last results are written."""
_DRAINS = 20
"""Idle cycles after which nothing is in a pipeline."""
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


# --- What is expected ---------------------------------------------------------------------------


def polynomial(first: int) -> list[Form]:
    """Unknown coefficients, from a symbol on."""
    return [{(first + k,): 1} for k in range(N)]


def root(i: int) -> int:
    """z_i of FIPS 203: 17^(2 BitRev7(i) + 1)."""
    return pow(ROOT, 2 * int(f"{i:07b}"[::-1], 2) + 1, Q)


def transform(f: Sequence[Form]) -> list[Form]:
    """f modulo each X^2 - z_i."""
    found: list[Form] = []
    for i in range(WORDS):
        powers = [pow(root(i), j, Q) for j in range(WORDS)]
        for parity in range(2):
            terms: dict[tuple[int, ...], int] = {}
            for j, power in enumerate(powers):
                for monomial, x in f[2 * j + parity].items():
                    terms[monomial] = (terms.get(monomial, 0) + x * power) % Q
            found.append({monomial: x for monomial, x in terms.items() if x})
    return found


def inverse(f: Sequence[Form]) -> list[Form]:
    """The polynomial with this transform: FIPS 203, algorithm 10, as a formula."""
    found: list[Form] = []
    less = pow(WORDS, -1, Q)
    for j in range(WORDS):
        powers = [less * pow(root(i), -j, Q) for i in range(WORDS)]
        for parity in range(2):
            terms: dict[tuple[int, ...], int] = {}
            for i, power in enumerate(powers):
                for monomial, x in f[2 * i + parity].items():
                    terms[monomial] = (terms.get(monomial, 0) + x * power) % Q
            found.append({monomial: x for monomial, x in terms.items() if x})
    return found


def product(f: Sequence[Form], g: Sequence[Form]) -> list[Form]:
    """f g modulo each X^2 - z_i, of polynomials of degree 1."""
    found = []
    for i in range(WORDS):
        (a, b), (c, d) = f[2 * i : 2 * i + 2], g[2 * i : 2 * i + 2]
        found += [
            added(multiplied(a, c, Q), multiplied(b, d, Q), root(i), Q),
            added(multiplied(a, d, Q), multiplied(b, c, Q), 1, Q),
        ]
    return found


def scaled(f: Sequence[Form], factor: int) -> list[Form]:
    """factor f."""
    return [{monomial: x * factor % Q for monomial, x in form.items()} for form in f]


def sums(f: Sequence[Form], g: Sequence[Form], sign: int = 1) -> list[Form]:
    """f + sign g."""
    return [added(a, b, sign, Q) for a, b in zip(f, g, strict=True)]


# --- Cases --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """Steps that are executed one after another, and what they are to make.

    Parameters
    ----------
    name : for errors
    steps : of the datapath
    words : polynomials that the memory holds before, by their region
    expected : polynomials that it holds afterwards; all other words are what they were
    sample : the sampled polynomial, if one is taken
    scratch : addresses of words that may be anything afterwards
    """

    name: str
    steps: Sequence[PolynomialStep]
    words: Mapping[Region, Sequence[Form]]
    expected: Mapping[Region, Sequence[Form]]
    sample: Sequence[Form] | None = None
    scratch: range = range(0)


def cases() -> Iterator[Case]:
    """What is proved: steps of every region, with every option but bytes."""
    f, g, old = polynomial(0), polynomial(N), polynomial(2 * N)
    accumulator, extra = Region.ACCUMULATOR, Region.EXTRA
    less = pow(K, -2, Q)
    for region in Region:
        name, back = region.name, scaled(inverse(f), less)
        step = PolynomialStep(StepType.TRANSFORM, region)
        yield Case(f"TRANSFORM of {name}", [step], {region: f}, {region: transform(f)})
        step = PolynomialStep(StepType.TRANSFORM, region, sample=True)
        yield Case(f"TRANSFORM to {name}", [step], {}, {region: transform(f)}, sample=f)
        steps = [PolynomialStep(kind, region) for kind in (StepType.INVERSE, StepType.LAST)]
        yield Case(f"INVERSE and LAST of {name}", steps, {region: f}, {region: back})
    for j, region in enumerate(Region):
        if region in (accumulator, extra):
            continue
        roots = range(_ROOTS + j * WORDS // 2, _ROOTS + (j + 1) * WORDS // 2)
        found = scaled(product(f, g), K * K)
        for add in (False, True):
            steps = [
                PolynomialStep(StepType.PAIR, region),
                PolynomialStep(StepType.MULTIPLY, region, sample=True, add=add),
            ]
            words = {region: g, accumulator: old} if add else {region: g}
            expected = {accumulator: sums(old, found) if add else found}
            name = f"PAIR and MULTIPLY of {region.name}{', with add' if add else ''}"
            yield Case(name, steps, words, expected, sample=f, scratch=roots)
    step = PolynomialStep(StepType.EXACT_SUM)
    found = sums(scaled(f, less), g)
    yield Case("EXACT_SUM", [step], {accumulator: f, extra: g}, {accumulator: found})


# --- The proof ----------------------------------------------------------------------------------


class Prover:
    """Proves cases from the state `rest`.

    Attributes
    ----------
    rest : what registers hold after a reset and a wipe, after every kind of step whatever its
        options and operands are, and in idle cycles; None where they may hold anything
    """

    def __init__(self) -> None:
        self.machine = MovedNumbers(Datapath(), [ReductionStage(), SumsStage()], Q)
        self.rest = list(self.machine.registers)
        self.table = [_constant(word, TABLE_BITS) for word in table_words()]

    def close(self) -> None:
        """Enlarge `rest` until it is closed; ProofError if a step's end depends on operands."""
        before: list[Bits] = []
        while before != self.rest:
            before = list(self.rest)
            self._wipe()
            for kind in StepType:
                for sample in (0, 1):
                    options = {"kind": kind, "sample": sample}
                    cycles = PolynomialStep(kind, sample=bool(sample)).cycles
                    self._forget()
                    self._execute(_step_bits(options), cycles)
                    self._idle()

    def prove(self, case: Case) -> int:
        """Its cycles; ProofError if it makes anything else."""
        self._forget()
        memory = self.machine.memory
        sample = None if case.sample is None else _numbers(case.sample)
        for region, forms in case.words.items():
            base = region.value * WORDS
            memory[base : base + WORDS] = _words(_numbers(forms))
        before, cycles = list(memory), 0
        for step in case.steps:
            self._execute(_step_bits(step.fields()), step.cycles, sample)
            cycles += step.cycles
        free = {*case.scratch}
        for region, forms in case.expected.items():
            base = region.value * WORDS
            free |= {*range(base, base + WORDS)}
            _compare(region, memory[base : base + WORDS], forms)
        changed = [k for k in range(len(memory)) if memory[k] is not before[k] and k not in free]
        if changed:
            raise ProofError(f"word {changed[0]} is written over")
        return cycles

    def _forget(self) -> None:
        """Any state of `rest`, and a memory that may hold anything."""
        machine = self.machine
        machine.registers = list(self.rest)
        for stage in machine.stages.values():
            stage.forget()
        # A tuple for each word, so that one that was written is not the same.
        machine.memory = [tuple([None] * len(word)) for word in machine.memory]

    def _execute(self, step: Bits, cycles: int, sample: Sequence[Number] | None = None) -> None:
        """A step from `start` to its last results; ProofError if `done` comes at another time."""
        constant = pair = None
        for cycle in range(-1, cycles + _SETTLES):
            inputs = _QUIET | {"step": step, "start": (int(cycle == -1),)}
            if isinstance(constant, int):
                inputs["table_word"] = self.table[constant]
            if sample is not None and isinstance(pair, int):
                inputs["sample"] = _word(sample[2 * pair : 2 * pair + 2])
            outputs = self.machine.step(inputs)
            constant, pair = (
                value_of(outputs[name], signed=False)
                for name in ("table_address", "sample_address")
            )
            if cycle >= 0 and outputs["done"] != (int(cycle == cycles - 1),):
                raise ProofError(f"done is {outputs['done']} in cycle {cycle} of {cycles}")

    def _idle(self) -> None:
        self._join()
        for _ in range(_DRAINS):
            self.machine.step(_QUIET | {"start": (0,)})
            self._join()

    def _wipe(self) -> None:
        """From any state at all."""
        machine = self.machine
        self._forget()
        machine.registers = [(None,) * len(word) for word in self.rest]
        machine.step(_QUIET | {"wipe": (1,), "start": (0,)})
        for _ in range(_DRAINS):  # far fewer than it takes
            machine.step(_QUIET | {"wiping": (1,), "start": (0,)})
        self._idle()

    def _join(self) -> None:
        self.rest = [
            tuple(
                a if isinstance(a, int) and a == b else None for a, b in zip(own, now, strict=True)
            )
            for own, now in zip(self.rest, self.machine.registers, strict=True)
        ]


def prove() -> ScheduleProof:
    """Prove every case, and the stages; ProofError with what does not hold."""
    from .lattice_stages import check_reduction, check_sums  # NumPy takes time to import

    start = process_time()
    check_reduction()
    check_sums()
    prover = Prover()
    prover.close()
    cycles = count = 0
    for case in cases():
        try:
            cycles += prover.prove(case)
        except ProofError as error:
            raise ProofError(f"{case.name}: {error}") from None
        count += 1
    free = sum(set(word) == {None} for word in prover.rest)
    return ScheduleProof(count, cycles, len(prover.rest), free, process_time() - start)


def _constant(value: int, width: int) -> Bits:
    return tuple(value >> k & 1 for k in range(width))


_QUIET: dict[str, Bits] = dict.fromkeys(("rst", "wipe", "wiping", "clear"), (0,))
"""Inputs that are 0 but in a wipe."""


def _step_bits(fields: Mapping[str, object]) -> Bits:
    """An input `step`; fields that are not given may be anything."""
    found: list[Bit] = []
    for name, field in STEP:
        width = Shape.cast(field.shape).width
        if name not in fields:
            found += [None] * width
            continue
        value = fields[name]
        number = value.value if isinstance(value, StepType) else value
        assert isinstance(number, int)
        found += _constant(number, width)
    return tuple(found)


def _numbers(forms: Sequence[Form]) -> list[Number]:
    return [Number(-Q, Q - 1, form) for form in forms]


def _word(pair: Sequence[Number]) -> Bits:
    return tuple(bit for number in pair for bit in number.bits(LANE_BITS))


def _words(numbers: Sequence[Number]) -> list[Bits]:
    """Of the memory, whose parity is not examined."""
    return [(*_word(numbers[k : k + 2]), None) for k in range(0, N, 2)]


def _compare(region: Region, words: Sequence[Bits], expected: Sequence[Form]) -> None:
    for k, form in enumerate(expected):
        at = k % 2 * LANE_BITS
        value = value_of(words[k // 2][at : at + LANE_BITS])
        if value is None:
            raise ProofError(f"coefficient {k} of {region.name} may be anything")
        if {m: x for m, x in form_of(value, Q).items() if x} != form:
            raise ProofError(f"coefficient {k} of {region.name} is another one")
