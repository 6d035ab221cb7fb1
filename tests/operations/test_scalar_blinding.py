"""Blinded scalars on integers: every r of small orders, both ends, faults, what is refused.

In hardware: tests/ec/test_settings.py, and tests/drivers/test_curves.py in C.
"""

import itertools
import random
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from coprime.catalog import choose
from coprime.device.jobs import EngineError
from coprime.ec.edwards import ED448, ED25519
from coprime.ec.samples import curve_numbers
from coprime.ec.weierstrass import curve_named
from coprime.engine.contract import Command, Error, Length, Operand
from coprime.engine.sequencer import length_check, linear_steps, loop_counter
from coprime.engine.sequencer.linear_steps import LinearSteps
from coprime.model import scalar_blinding
from coprime.model.combs import jacobian_tooth
from coprime.model.scalar_blinding import comb_bits, random_bits
from coprime.program.steps import StepKind
from coprime.runs.execution import predict_operation
from tests.ec import small_curves
from tests.ec.small_curves import points_of

pytestmark = pytest.mark.matrix

PAGE = (Path(__file__).parents[2] / "docs" / "curves.md").read_text("utf-8")
SHORTER = [one for one in small_curves.CURVES if one.n.bit_length() >= 6]
"""Of orders of 6 bits and more."""
MULTIPLES = (Command.EC_MULTIPLY, Command.EC_BASE_MULTIPLY, Command.ED_BASE_MULTIPLY)


@cache
def design_of(profile="hardened", family="compact", **settings):
    return choose(family, {"curves": "weierstrass", "ecdsa": profile, **settings}).design


def with_bits(monkeypatch, bits):
    """A design whose r has another length; orders are never below the shortest modulus, and r has
    half as many bits as that."""
    for module in (scalar_blinding, loop_counter, length_check):
        monkeypatch.setattr(module, "random_bits", lambda length: bits)
    return design_of()


def predicted(design, command, numbers):
    """Without a driver. EngineError if it is refused."""
    capabilities = design.capabilities
    encoded = command.operation.encoding.encode(numbers, capabilities)
    found = design.predict(command, encoded.among(capabilities.operands), encoded.lengths)
    if found.error:
        raise EngineError(found.error)
    return found


def expected(design, command, numbers):
    return command.operation.expected(numbers, design.capabilities.half_bits)


def draw(monkeypatch, *randoms, bits):
    """The bits of each r, for one multiple after the other, and coordinates that are not 0 modulo
    small primes."""
    drawn = iter([r >> k & 1 for r in randoms for k in range(bits)])

    def randbits(width):
        return next(drawn) if width == 1 else random.randrange(1, 17)

    monkeypatch.setattr(linear_steps, "randbits", randbits)


@pytest.mark.matrix
@pytest.mark.parametrize(
    "curve",
    [
        SHORTER[0],
        *(pytest.param(one, marks=pytest.mark.matrix) for one in SHORTER[1:]),
    ],
    ids=lambda one: one.name,
)
def test_every_scalar_with_every_r_of_a_small_curve(monkeypatch, curve):
    """r has four bits less than the order."""
    bits = curve.n.bit_length() - 4
    design, command, cycles = with_bits(monkeypatch, bits), Command.EC_MULTIPLY, set()
    for k, r in itertools.product(range(1, curve.n), range(1 << bits)):
        draw(monkeypatch, r, bits=bits)
        x, y = curve.base
        numbers = {"x": x, "y": y, "k": k, **curve.numbers}
        found = predicted(design, command, numbers)
        assert found.result == expected(design, command, numbers)
        cycles.add(found.cycles)
    assert len(cycles) == 1


@pytest.mark.matrix
@pytest.mark.parametrize("curve", SHORTER, ids=lambda one: one.name)
def test_every_scalar_and_every_point_of_a_small_curve(monkeypatch, curve):
    """With one r each."""
    bits = curve.n.bit_length() - 4
    design, command, generator = with_bits(monkeypatch, bits), Command.EC_MULTIPLY, random.Random(1)
    for (x, y), k in itertools.product(points_of(curve), range(1, curve.n)):
        draw(monkeypatch, generator.getrandbits(bits), bits=bits)
        numbers = {"x": x, "y": y, "k": k, **curve.numbers}
        found = predicted(design, command, numbers)
        assert found.result == expected(design, command, numbers)


def test_an_order_that_is_too_short_for_r(monkeypatch):
    """A number that the ladder comes by is 0 then: the result is right, or there is none."""
    curve, design, command = SHORTER[0], with_bits(monkeypatch, 16), Command.EC_MULTIPLY
    codes = set()
    for k in range(1, curve.n):
        x, y = curve.base
        numbers = {"x": x, "y": y, "k": k, **curve.numbers}
        try:
            assert predicted(design, command, numbers).result == expected(design, command, numbers)
            codes.add(Error.NONE)
        except EngineError as error:
            codes.add(error.code)
    assert codes == {Error.NONE, Error.POINT}


@pytest.mark.covering(2)
@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("P-256", Command.EC_MULTIPLY),
        ("P-256", Command.EC_BASE_MULTIPLY),
        *(
            pytest.param(*one, marks=pytest.mark.matrix)
            for one in itertools.product(
                ("P-224", "P-521", "secp256k1", "brainpoolP384r1"), MULTIPLES[:2]
            )
        ),
    ],
)
def test_scalars_at_both_ends(name, command):
    """Results are Python's, and cycles the same for each scalar and r."""
    curve, design = curve_named(name), design_of()
    scalars = (1, 2, curve.n // 2, curve.n - 1)
    cycles = set()
    for k in scalars:
        numbers = curve_numbers(command, curve, random.Random(1)) | {"k": k}
        found = predicted(design, command, numbers)
        assert found.result == expected(design, command, numbers)
        cycles.add(found.cycles)
    assert len(cycles) == 1


@pytest.mark.matrix
@pytest.mark.parametrize("curve", [ED25519, pytest.param(ED448, marks=pytest.mark.matrix)], ids=str)
def test_scalars_on_edwards_curves(curve):
    command, design = Command.ED_BASE_MULTIPLY, design_of(curves="weierstrass+edwards")
    cycles = set()
    for k in (0, 1, curve.n - 1):
        numbers = curve_numbers(command, curve, random.Random(1)) | {"k": k}
        found = predicted(design, command, numbers)
        assert found.result == expected(design, command, numbers)
        cycles.add(found.cycles)
    assert len(cycles) == 1


def cycles_on_the_page():
    rows = re.findall(r"^\| ([\w-]+): (\w+) \|((?: [\d,]+ \|){2})$", PAGE, re.M)
    assert len(rows) == 3 * 4 + 2
    for name, operation, figures in rows:
        cycles = [int(one.replace(",", "")) for one in re.findall(r"[\d,]+", figures)]
        yield pytest.param(name, Command[operation], cycles, id=f"{name} {operation}")


@pytest.mark.matrix
@pytest.mark.parametrize("name, command, cycles", list(cycles_on_the_page()))
def test_cycles_on_the_page(name, command, cycles):
    edwards = {one.name: one for one in (ED25519, ED448)}
    curve = edwards[name] if name in edwards else curve_named(name)
    curves = "weierstrass+edwards" if name in edwards else "weierstrass"
    numbers = curve_numbers(command, curve, random.Random(1))
    designs = (design_of(profile, curves=curves) for profile in ("drawn", "hardened"))
    assert [predicted(one, command, numbers).cycles for one in designs] == cycles


def scanned_scalars(monkeypatch, design, command, numbers):
    """E, whenever a step other than those that make it has begun to read it."""
    found = []
    run = LinearSteps.run

    def recorded(self, lane, step):
        run(self, lane, step)
        if step.kind is StepKind.ADD_IF_DRAWN:
            found.append(lane.values[Operand.E])

    with monkeypatch.context() as patch:
        patch.setattr(LinearSteps, "run", recorded)
        predicted(design, command, numbers)
    bits = random_bits(256)
    return found[bits - 1 :: bits]


def test_both_multiples_of_a_signature_scan_another_scalar(monkeypatch):
    """Both are the same modulo n; so are those of the next command, which are others again."""
    numbers = curve_numbers(Command.EC_BASE_MULTIPLY, curve_named("P-256"), random.Random(1))
    given = (monkeypatch, design_of(), Command.EC_BASE_MULTIPLY, numbers)
    scalars = [*scanned_scalars(*given), *scanned_scalars(*given)]
    assert len(set(scalars)) == 4
    assert len({one % numbers["n"] for one in scalars}) == 1


def test_a_ladder_scans_another_scalar_each_time(monkeypatch):
    numbers = curve_numbers(Command.EC_MULTIPLY, curve_named("P-256"), random.Random(1))
    given = (monkeypatch, design_of(), Command.EC_MULTIPLY, numbers)
    scalars = [*scanned_scalars(*given), *scanned_scalars(*given)]
    assert len(set(scalars)) == 2
    assert {one % numbers["n"] for one in scalars} == {numbers["k"]}
    assert {(one - numbers["k"]) // numbers["n"] % 4 for one in scalars} == {1}


@pytest.mark.parametrize("command", [Command.EC_MULTIPLY, Command.EC_BASE_MULTIPLY])
@pytest.mark.parametrize("place", [0, 200, 300])
def test_a_scalar_that_a_fault_has_changed(monkeypatch, command, place):
    """As the last random bit is added: what is multiplied is another number, modulo n too."""
    design, run = design_of(), LinearSteps.run
    numbers = curve_numbers(command, curve_named("P-256"), random.Random(1))
    done = []

    def changed(self, lane, step):
        run(self, lane, step)
        if step.kind is StepKind.ADD_IF_DRAWN and not done:
            lane.values[Operand.E] ^= 1 << place
            done.append(step)

    monkeypatch.setattr(LinearSteps, "run", changed)
    with pytest.raises(EngineError) as found:
        predicted(design, command, numbers)
    assert found.value.code is Error.FAULT


def special_r(k, n, tooth):
    """An r with which the sum of all columns but the last two is the point at infinity."""
    generator = random.Random(1)
    while True:
        r = generator.getrandbits(128)
        e = (k - 1) * (n + 1) // 2 % n + r * n + (1 << 4 * tooth - 1)
        low = sum(((e >> tooth * j & 3) * 2 - 3) << tooth * j for j in range(4))
        total = 2 * e - ((1 << 4 * tooth) - 1) - low
        assert total % 4 == 0
        if total // 4 % n == 0:
            return r


def test_an_addition_of_the_comb_that_is_special(monkeypatch):
    """Of a scalar that is made for it, with one r in a thousand: there is no result, and no wrong
    one; with another r there is one."""
    command, curve = Command.EC_BASE_MULTIPLY, curve_named("brainpoolP256r1")
    design = design_of()
    capabilities = design.capabilities
    tooth = jacobian_tooth(
        curve.n, 256, capabilities.digit_width, capabilities.headroom, comb_bits(256)
    )
    k = sum(f << tooth * j for j, f in enumerate((3, 1, 3, 1))) % curve.n
    numbers = curve_numbers(command, curve, random.Random(1)) | {"k": k}
    r = special_r(k, curve.n, tooth)
    draw(monkeypatch, r, bits=128)
    with pytest.raises(EngineError) as found:
        predicted(design, command, numbers)
    assert found.value.code is Error.POINT
    draw(monkeypatch, r + 1, 1, bits=128)
    assert predicted(design, command, numbers).result == expected(design, command, numbers)


@pytest.mark.parametrize("command", [Command.EC_MULTIPLY, Command.EC_BASE_MULTIPLY])
def test_an_exponent_without_the_bits_of_r(command):
    """From a driver that does not know of them."""
    design, numbers = design_of(), {}
    capabilities = design.capabilities
    numbers = curve_numbers(command, curve_named("P-256"), random.Random(1))
    unblinded = replace(capabilities, blinds_scalars=False)
    encoded = command.operation.encoding.encode(numbers, unblinded)
    operands, lengths = encoded.among(capabilities.operands), dict(encoded.lengths)
    assert design.predict(command, operands, lengths).error is Error.EXPONENT_LENGTH
    lengths[Length.EXPONENT] = 256 + random_bits(256)
    assert design.predict(command, operands, lengths).error is Error.EXPONENT_LENGTH


@pytest.mark.parametrize("command", [*MULTIPLES[:2], Command.ECDSA_VERIFY])
def test_an_exponent_that_is_longer_than_half_of_m(command):
    """Above its power of two M has another number."""
    numbers = curve_numbers(command, curve_named("P-384"), random.Random(1))
    with pytest.raises(EngineError) as found:
        predicted(design_of(max_bits="521"), command, numbers)
    assert found.value.code is Error.LENGTH_OVER


@pytest.mark.matrix
@pytest.mark.parametrize("command", [*MULTIPLES[:2], Command.ECDSA_VERIFY])
def test_the_longest_exponent_of_half_of_m(command):
    numbers = curve_numbers(command, curve_named("brainpoolP320r1"), random.Random(1))
    design = design_of(max_bits="521")
    assert predicted(design, command, numbers).result == expected(design, command, numbers)


@pytest.mark.matrix
def test_x_multiply_is_not_blinded():
    """It is the same with and without the parameter."""
    numbers = {"x": 9, "e": 5 << 250, "y": 121665, "m": 2**255 - 19}
    given = (Command.X_MULTIPLY, numbers)
    found = [
        predict_operation(design_of(one, curves="all"), *given) for one in ("drawn", "hardened")
    ]
    assert found[0] == found[1]
