"""The C driver's operations on curves on simulated accelerators, against Python's integers and
`cryptography`."""

import hashlib
import random
import subprocess
import sys
from types import SimpleNamespace

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, utils, x25519

from coprime.bus import registers
from coprime.ec import ecdsa, eddsa
from coprime.ec.edwards import ED448, ED25519, EdwardsCurve
from coprime.ec.montgomery import X25519
from coprime.ec.samples import SHORT_EDWARDS
from coprime.ec.samples import SHORT_WEIERSTRASS as FIELD_64
from coprime.ec.weierstrass import CURVES as NAMED
from coprime.ec.weierstrass import WeierstrassCurve, curve_named
from coprime.engine.contract import Command, Error, Operand
from coprime.engine.residue import residue_width
from coprime.model import edwards_points
from coprime.model.combs import jacobian_tooth
from coprime.model.curve_points import base_multiple, multiple, signature
from coprime.model.scalar_blinding import comb_bits
from coprime.operations.encodings.pairs import field_operands
from coprime.operations.encodings.radix import Radix
from coprime.program.operands import PAIRS_OF_TABLE, TABLE_T_COORDINATES
from tests.drivers.harness import (
    CURVES,
    DRIVER,
    HARNESS,
    ROOT,
    Harness,
    can_compile,
    compile_c,
    octets,
    simulation_of,
)
from tests.drivers.test_driver import open_driver, start
from tests.ec import small_edwards
from tests.ec.small_curves import TINY
from tests.ec.test_montgomery import VECTORS
from tests.ec.test_weierstrass import SHORT

pytestmark = pytest.mark.matrix

MEMORY = 258
P_256 = curve_named("P-256")
FORMS = {WeierstrassCurve: 1, EdwardsCurve: 2}
SMALL = [TINY, SHORT, FIELD_64]
"""Without a comb; with numbers that have a digit less than their length; with a comb."""


def of_group(name):
    """Marks the families of a form: one worker does these tests and those of the same accelerator
    in tests/ec."""
    group = pytest.mark.xdist_group(name)
    return [
        pytest.param("compact", marks=group),
        pytest.param("ring", marks=[group, pytest.mark.matrix]),
    ]


@pytest.fixture(scope="module", params=of_group("weierstrass"))
def weierstrass(request, tmp_path_factory):
    """The harness on the accelerator of tests/ec/conftest.py, so that it is built once."""
    running = started(tmp_path_factory, request.param, curves="weierstrass")
    yield running
    running.close()


def started(tmp_path_factory, family, **settings):
    folder = tmp_path_factory.mktemp("curves")
    more = ("-DCURVES", *CURVES)
    # ring has fewer digits, and columns of two scalars as long as Ed448's do not fit into them.
    bits = 2048 if (family, settings["curves"]) == ("ring", "edwards") else 1024
    running = open_driver(start(folder, family, {"max_bits": bits, **settings}, more=more))
    _, digits = running("read", registers.DIGITS.address)
    running.half_bits = running.own.digit_width << registers.DIGITS["HALF"].of(digits)
    running.blinds_scalars = bool(registers.DIGITS["SCALAR_BLINDING"].of(digits))
    return running


def set_curve(harness, curve, bits=None, **changes):
    """Hand over a curve's numbers."""
    b = curve.d if isinstance(curve, EdwardsCurve) else curve.b
    numbers = {"p": curve.p, "n": curve.n, "a": curve.a, "b": b, **changes}
    gx, gy = curve.base
    bits = bits or max(curve.p, curve.n).bit_length()
    values = (*(numbers[one] for one in "pnab"), gx, gy)
    assert harness("set_curve", FORMS[type(curve)], bits, *map(octets, values)) == (0,)


def made(harness, curve, *, table=True):
    """A curve with its constants, and a table."""
    set_curve(harness, curve)
    assert harness("make_curve", 0)[0] == 0
    if table:
        assert harness("make_table", 0)[0] == 0


def go(harness, name, *numbers):
    """The two numbers of an operation, or the error's code."""
    code, *rest = harness(name, len(numbers), *map(octets, numbers))
    if code:
        assert len(set(rest)) <= 1  # what the harness has put there, or zeros
        return code
    assert rest[-1] > 0  # cycles
    return tuple(rest[:-1])


def engine_of(harness):
    """What encodings ask of an engine."""
    own = harness.own
    return SimpleNamespace(
        digit_width=own.digit_width,
        headroom=own.headroom,
        radix_bits=own.radix_bits,
        half_bits=harness.half_bits,
        blinds_scalars=harness.blinds_scalars,
    )


def radix_of(harness):
    return Radix.of(engine_of(harness))


def length_of(harness, curve):
    length = max(harness.own.min_bits, curve.p.bit_length(), curve.n.bit_length())
    if radix_of(harness).is_short(curve.p):
        less = harness.own.digit_width * radix_of(harness).scale_digits
        length = max(length, harness.own.min_bits + less)
    return length


@pytest.mark.matrix(quick=1)
@pytest.mark.parametrize("curve", [*SMALL, *NAMED], ids=str)
def test_constants(weierstrass, curve):
    """Those of the Python driver."""
    set_curve(weierstrass, curve)
    found = weierstrass("make_curve", 0)
    length, radix = length_of(weierstrass, curve), radix_of(weierstrass)
    given = field_operands(radix, curve.p, curve.n, length)
    longer = comb_bits(length) if weierstrass.blinds_scalars else 0
    tooth = jacobian_tooth(curve.n, length, radix.width, radix.headroom, longer)
    powers = [given[one] for one in (Operand.P_INVERSE, Operand.P_POWER)]
    powers += [given[one] for one in (Operand.Q_INVERSE, Operand.Q_POWER)]
    half = pow(2, 2 * radix.exponent(length) - 1, curve.n)
    assert found == (0, length, tooth, *powers, curve.p - 2, curve.n - 2, half)


@pytest.mark.parametrize("curve", [*SMALL, pytest.param(P_256, marks=pytest.mark.matrix)], ids=str)
def test_the_table(weierstrass, curve):
    """Of the Python driver, which makes it by additions of points."""
    made(weierstrass, curve, table=False)
    code, *numbers = weierstrass("make_table", 0)
    length, half = length_of(weierstrass, curve), weierstrass.half_bits
    encoding = Command.EC_BASE_MULTIPLY.operation.encoding
    given, _ = encoding.table(curve.domain, length, engine_of(weierstrass))
    pairs = [one for both in zip(numbers[::2], numbers[1::2], strict=True) for one in both]
    expected = [
        part for one in PAIRS_OF_TABLE for part in (given[one] % 2**half, given[one] >> half)
    ]
    assert (code, pairs) == (0, expected)


@pytest.mark.parametrize(
    "curve", [FIELD_64, TINY, SHORT, pytest.param(P_256, marks=pytest.mark.matrix)], ids=str
)
def test_multiples_and_signatures(weierstrass, curve):
    """Of the shortest one there is no signature with the nonce that is drawn here."""
    made(weierstrass, curve)
    generator, given = random.Random(curve.name), curve.numbers
    scalars = [1, curve.n - 1, generator.randrange(1, curve.n)]
    d, z, k = (generator.randrange(1, curve.n) for _ in range(3))
    public = multiple(*curve.base, d, **given)
    for scalar in scalars if curve is not P_256 else scalars[2:]:
        expected = base_multiple(scalar, *curve.base, **given)
        assert go(weierstrass, "ec_multiply", scalar, *curve.base) == expected
        assert go(weierstrass, "ec_base_multiply", scalar) == expected
        x, y = multiple(*public, scalar, **given)
        assert go(weierstrass, "ec_multiply_in_place", scalar, *public) == (y, x)
    try:
        r, s = signature(z, d, k, *curve.base, **given)
    except ValueError:
        assert curve is TINY
        assert go(weierstrass, "ecdsa_sign_with", d, z, k) == Error.OPERAND_RANGE
        return
    assert go(weierstrass, "ecdsa_sign_with", d, z, k) == (r, s)
    assert go(weierstrass, "ecdsa_verify", *public, z, r, s) == ()
    assert go(weierstrass, "ecdsa_verify", *public, z, r, s % (curve.n - 1) + 1) == Error.SIGNATURE


def test_numbers_that_the_driver_has(weierstrass):
    """Of a curve by its name: the constants are those of the numbers that Python has."""
    assert weierstrass("name_curve", "P-256") == (0, 1, 256)
    found = weierstrass("make_curve", 0)
    set_curve(weierstrass, P_256)
    assert found[0] == 0
    assert found == weierstrass("make_curve", 0)


@pytest.mark.matrix
def test_p_256_with_cryptography(weierstrass):
    """Of the numbers that the driver has; both sides verify signatures, and ECDH agrees."""
    assert weierstrass("name_curve", "P-256") == (0, 1, 256)
    assert weierstrass("make_curve", 0)[0] == weierstrass("make_table", 0)[0] == 0
    generator, message = random.Random(256), b"message"
    d, k, peer = (generator.randrange(1, P_256.n) for _ in range(3))
    digest = hashlib.sha512(message).digest()
    (own, theirs) = (ec.derive_private_key(one, ec.SECP256R1()) for one in (d, peer))
    point, other = (one.public_key().public_numbers() for one in (own, theirs))
    assert go(weierstrass, "ec_base_multiply", d) == (point.x, point.y)
    x, _ = go(weierstrass, "ec_multiply", d, other.x, other.y)
    assert x.to_bytes(32) == own.exchange(ec.ECDH(), theirs.public_key())
    _, z = weierstrass("ecdsa_hash", "x" + digest.hex())
    signed = go(weierstrass, "ecdsa_sign_with", d, z, k)
    algorithm = ec.ECDSA(hashes.SHA512())
    own.public_key().verify(utils.encode_dss_signature(*signed), message, algorithm)
    with pytest.raises(InvalidSignature):
        own.public_key().verify(utils.encode_dss_signature(*signed), b"another", algorithm)
    found = utils.decode_dss_signature(own.sign(message, algorithm))
    assert go(weierstrass, "ecdsa_verify", point.x, point.y, z, *found) == ()
    assert go(weierstrass, "ecdsa_verify", point.x, point.y, z ^ 1, *found) == Error.SIGNATURE


@pytest.mark.parametrize("size", [0, 1, 20, 32, 64])
@pytest.mark.parametrize("curve", [FIELD_64, P_256, curve_named("P-521")], ids=str)
def test_the_number_of_a_digest(weierstrass, curve, size):
    made(weierstrass, curve, table=False)
    generator = random.Random(size)
    for digest in (b"\xff" * size, bytes(size), generator.randbytes(size)):
        expected = ecdsa.hashed(curve, digest)
        assert weierstrass("ecdsa_hash", "x" + digest.hex()) == (0, expected)


@pytest.mark.matrix
def test_a_nonce_that_the_engine_draws(tmp_path_factory):
    """Two signatures of one number are different, and both are valid."""
    harness = started(tmp_path_factory, "compact", curves="weierstrass", ecdsa="drawn", max_bits=64)
    made(harness, FIELD_64)
    d, z = FIELD_64.n - 5, 3
    public = multiple(*FIELD_64.base, d, **FIELD_64.numbers)
    first, second = (go(harness, "ecdsa_sign", d, z) for _ in range(2))
    assert first != second
    for found in (first, second):
        assert go(harness, "ecdsa_verify", *public, z, *found) == ()
    assert go(harness, "ecdsa_verify", *public, z, first[0], second[1]) == Error.SIGNATURE
    assert go(harness, "ecdsa_sign_with", d, z, 5) == Error.UNSUPPORTED
    assert go(harness, "ecdsa_sign", 0, z) == Error.OPERAND_RANGE
    harness.close()


@pytest.mark.matrix
def test_blinded_scalars(tmp_path_factory):
    """Tables for longer scalars: those of P-256 have three teeth that are longer than n."""
    settings = {"curves": "weierstrass+edwards", "ecdsa": "hardened"}
    harness = started(tmp_path_factory, "compact", **settings)
    for curve in (TINY, FIELD_64, P_256):
        test_constants(harness, curve)
        test_the_table(harness, curve)
        if curve is TINY:  # which is too short for r
            continue
        d, z, given = curve.n - 5, 3, curve.numbers
        public = multiple(*curve.base, d, **given)
        assert go(harness, "ec_multiply", d, *curve.base) == public
        assert go(harness, "ec_base_multiply", d) == public
        first, second = (go(harness, "ecdsa_sign", d, z) for _ in range(2))
        assert first != second
        for found in (first, second):
            assert go(harness, "ecdsa_verify", *public, z, *found) == ()
        assert go(harness, "ecdsa_verify", *public, z, first[0], second[1]) == Error.SIGNATURE
    for curve in SMALL_EDWARDS:
        test_the_table_of_an_edwards_curve(harness, curve)
    test_signatures_on_edwards_curves(harness, SMALL_EDWARDS[-1])
    harness.close()


# --- What is refused ------------------------------------------------------------------------------


def test_inputs_that_are_refused(weierstrass):
    made(weierstrass, FIELD_64)
    p, n, (x, y) = FIELD_64.p, FIELD_64.n, FIELD_64.base
    out_of_range, point = Error.OPERAND_RANGE, Error.POINT
    for k in (0, n, 2**64 - 1):
        assert go(weierstrass, "ec_multiply", k, x, y) == out_of_range
        assert go(weierstrass, "ec_base_multiply", k) == out_of_range
        assert go(weierstrass, "ecdsa_sign_with", k, 1, 1) == out_of_range
        assert go(weierstrass, "ecdsa_sign_with", 1, 1, k) == out_of_range
        assert go(weierstrass, "ecdsa_verify", x, y, 1, k, 1) == out_of_range
        assert go(weierstrass, "ecdsa_verify", x, y, 1, 1, k) == out_of_range
    assert go(weierstrass, "ecdsa_sign_with", 1, n, 1) == out_of_range
    for wrong in (p, 2**64 - 1):
        assert go(weierstrass, "ec_multiply", 5, wrong, y) == out_of_range
        assert go(weierstrass, "ec_multiply", 5, x, wrong) == out_of_range
    assert go(weierstrass, "ec_multiply", 5, x, y ^ 1) == point
    assert go(weierstrass, "ecdsa_verify", x, y ^ 1, 1, 1, 1) == point
    assert go(weierstrass, "ec_multiply", 5, x, y) == multiple(x, y, 5, **FIELD_64.numbers)


def test_a_number_with_bits_above_the_curve(weierstrass):
    """Where they fit the words of a number, the driver sees them."""
    made(weierstrass, SHORT)
    (x, y), above = SHORT.base, 1 << 31
    for numbers in ((5 | above, x, y), (5, x | above, y), (5, x, y | above)):
        assert call(weierstrass, "ec_multiply", *numbers) == Error.OPERAND_RANGE
    assert call(weierstrass, "ec_base_multiply", above) == Error.OPERAND_RANGE
    for numbers in ((above, 1, 1), (1, above, 1), (1, 1, above)):
        assert call(weierstrass, "ecdsa_sign_with", *numbers) == Error.OPERAND_RANGE
    for k in range(5):
        numbers = [above if k == i else 1 for i in range(5)]
        assert call(weierstrass, "ecdsa_verify", *numbers) == Error.OPERAND_RANGE


def call(harness, name, *numbers):
    """The error's code."""
    return harness(name, len(numbers), *map(octets, numbers))[0]


def test_curves_that_are_refused(weierstrass):
    even, tall = Error.MODULUS_EVEN, Error.KEY_EXCESS
    short, small = Error.MODULUS_SHORT, Error.OPERAND_RANGE
    for changes, bits, code in [
        ({"p": FIELD_64.p - 1}, 64, even),
        ({"n": FIELD_64.n - 1}, 64, even),
        ({"p": 3}, 64, small),
        ({"n": 1}, 64, small),
        ({}, 65, short),
        ({"a": 0, "b": 0}, 63, tall),
    ]:
        set_curve(weierstrass, FIELD_64, bits, **changes)
        assert weierstrass("make_curve", 0) == (code,), changes
    long = SimpleNamespace(p=2**2049 - 1, n=2**2049 - 1, a=0, b=0, base=(0, 0))
    FORMS[SimpleNamespace] = 1
    set_curve(weierstrass, long)
    assert weierstrass("make_curve", 0) == (Error.LENGTH_OVER,)
    FORMS[SimpleNamespace] = 2
    set_curve(weierstrass, long)
    assert weierstrass("make_curve", 0) == (Error.UNSUPPORTED,)


def test_memory_and_tables_that_are_missing(weierstrass):
    set_curve(weierstrass, FIELD_64)
    assert weierstrass("make_curve", 1) == (MEMORY,)
    made(weierstrass, FIELD_64, table=False)
    assert weierstrass("make_table", 1) == (MEMORY,)
    missing = Error.OPERAND_MISSING
    assert call(weierstrass, "ec_base_multiply", 1) == missing
    assert call(weierstrass, "ecdsa_sign_with", 1, 1, 1) == missing
    assert call(weierstrass, "ecdsa_verify", 1, 1, 1, 1, 1) == missing
    assert call(weierstrass, "ecdsa_sign", 1, 1) == missing
    made(weierstrass, FIELD_64)
    assert call(weierstrass, "ecdsa_sign", 1, 1) == Error.UNSUPPORTED


@pytest.mark.parametrize("address", [registers.OUTPUT_WINDOW.address, registers.RESIDUE.address])
def test_a_bit_that_changes_as_it_is_read(weierstrass, address):
    """The result is cleared: it is not what the engine has checked."""
    made(weierstrass, FIELD_64)
    weierstrass("wrong", address, 4)
    found = [
        weierstrass("ec_multiply", 3, octets(5), *map(octets, FIELD_64.base)),
        weierstrass("ec_base_multiply", 1, octets(5)),
        weierstrass("ecdsa_sign_with", 3, octets(5), octets(6), octets(7)),
    ]
    public = multiple(*FIELD_64.base, 5, **FIELD_64.numbers)
    r, s = signature(6, 5, 7, *FIELD_64.base, **FIELD_64.numbers)
    verified = call(weierstrass, "ecdsa_verify", *public, 6, r, s)
    weierstrass("wrong", 1, 0)
    assert found == [(Error.FAULT, 0, 0)] * 3
    assert verified == (Error.FAULT if address == registers.OUTPUT_WINDOW.address else 0)
    assert call(weierstrass, "ecdsa_verify", *public, 6, r, s) == 0


def test_a_wrong_point_that_residue_does_not_see(weierstrass):
    """Two bits that change its first word by a multiple of the residue's modulus."""
    made(weierstrass, FIELD_64)
    width = residue_width(weierstrass.own.digit_width)
    x, _ = multiple(*FIELD_64.base, 5, **FIELD_64.numbers)
    place = next(k for k in range(32 - width) if (x >> k ^ x >> k + width) & 1)
    weierstrass("wrong", registers.OUTPUT_WINDOW.address, 1 << place | 1 << place + width)
    found = [
        weierstrass("ec_multiply", 3, octets(5), *map(octets, FIELD_64.base)),
        weierstrass("ec_base_multiply", 1, octets(5)),
    ]
    weierstrass("wrong", 1, 0)
    assert found == [(Error.FAULT, 0, 0)] * 2


def test_what_else_is_loaded_is_forgotten(weierstrass):
    """A modulus has to be loaded again, and then works as before."""
    m = (1 << 64) - 59
    weierstrass.set_modulus(m)
    assert weierstrass("modulus_constants", 0)[0] == 0
    assert weierstrass("load_modulus") == (0,)
    made(weierstrass, FIELD_64)
    assert weierstrass("modmul", octets(2), octets(3))[0] == Error.OPERAND_MISSING
    assert weierstrass("load_modulus") == (0,)
    assert weierstrass("modmul", octets(m - 1), octets(3))[:2] == (0, m - 3)
    assert go(weierstrass, "ec_base_multiply", 1) == FIELD_64.base


def test_the_generated_curves_are_up_to_date():
    tool = [sys.executable, ROOT / "tools" / "curves.py", "--check"]
    done = subprocess.run(tool, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# --- Edwards form ---------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=of_group("edwards"))
def edwards(request, tmp_path_factory):
    running = started(tmp_path_factory, request.param, curves="edwards")
    yield running
    running.close()


def made_edwards(harness, curve):
    set_curve(harness, curve)
    assert harness("make_curve", 0)[0] == 0
    assert harness("make_table", 0)[0] == 0


SMALL_EDWARDS = [small_edwards.CURVES[2], small_edwards.CURVES[5], SHORT_EDWARDS]
"""With a = -1 and a = 1."""


@pytest.mark.matrix
@pytest.mark.parametrize(
    "curve", [*SMALL_EDWARDS, pytest.param(ED25519, marks=pytest.mark.matrix)], ids=str
)
def test_the_table_of_an_edwards_curve(edwards, curve):
    """Of the Python driver, and the base point's numbers after it."""
    set_curve(edwards, curve)
    assert edwards("make_curve", 0)[0] == 0
    code, *numbers = edwards("make_table", 0)
    length, half = length_of(edwards, curve), edwards.half_bits
    given, base = (
        command.operation.encoding.table(curve.domain, length, engine_of(edwards))[0]
        for command in (Command.ED_BASE_MULTIPLY, Command.ED_VERIFY)
    )
    places = [(given, one) for one in (*PAIRS_OF_TABLE, *TABLE_T_COORDINATES)]
    places += [(base, Operand.TABLE_0), (base, Operand.TABLE_8)]
    expected = [part for of, one in places for part in (of[one] % 2**half, of[one] >> half)]
    assert (code, [*numbers, 0]) == (0, expected)


@pytest.mark.parametrize("curve", SMALL_EDWARDS, ids=str)
def test_signatures_on_edwards_curves(edwards, curve):
    made_edwards(edwards, curve)
    generator, given = random.Random(curve.name), (curve.a, curve.d, curve.p)
    for _ in range(3):
        a, r, h = (generator.randrange(curve.n) for _ in range(3))
        public, point = (edwards_points.multiple(curve.base, one, *given) for one in (a, r))
        assert go(edwards, "ed_base_multiply", a) == public
        s = (r + h * a) % curve.n
        assert go(edwards, "ed_finish", r, h, a) == (s,)
        assert go(edwards, "ed_verify", *public, h, *point, s) == ()
        wrong = (s + 1) % curve.n
        assert go(edwards, "ed_verify", *public, h, *point, wrong) == Error.SIGNATURE
    for k in (0, 1, curve.n - 1):
        expected = edwards_points.multiple(curve.base, k, *given)
        assert go(edwards, "ed_base_multiply", k) == expected


@pytest.mark.parametrize(
    ("curve", "library"),
    [
        pytest.param(ED25519, ed25519.Ed25519PrivateKey, marks=pytest.mark.matrix),
        pytest.param(ED448, ed448.Ed448PrivateKey, marks=pytest.mark.matrix),
    ],
    ids=str,
)
def test_eddsa_with_cryptography(edwards, curve, library):
    """Encodings and hashes are those of coprime.ec.eddsa."""
    assert edwards("name_curve", curve.name) == (0, 2, curve.p.bit_length())
    assert edwards("make_curve", 0)[0] == edwards("make_table", 0)[0] == 0
    private, message, variant = bytes(range(curve.size)), b"message", eddsa.PURE
    theirs = library.from_private_bytes(private)
    scalar, prefix = curve.expand(private)
    public = go(edwards, "ed_base_multiply", scalar % curve.n)
    encoded = curve.encode_point(public)
    assert encoded == theirs.public_key().public_bytes_raw()
    r = variant.number(curve, prefix, message)
    point = go(edwards, "ed_base_multiply", r)
    h = variant.number(curve, curve.encode_point(point), encoded, message)
    (s,) = go(edwards, "ed_finish", r, h, scalar % curve.n)
    made = curve.encode_point(point) + s.to_bytes(curve.size, "little")
    assert made == theirs.sign(message)
    assert go(edwards, "ed_verify", *public, h, *point, s) == ()
    assert go(edwards, "ed_verify", *public, h ^ 1, *point, s) == Error.SIGNATURE


def test_inputs_of_edwards_curves_that_are_refused(edwards):
    curve = SHORT_EDWARDS
    set_curve(edwards, curve)
    assert edwards("make_curve", 0)[0] == 0
    assert call(edwards, "ed_base_multiply", 1) == Error.OPERAND_MISSING
    assert call(edwards, "ed_verify", 1, 1, 1, 1, 1, 1) == Error.OPERAND_MISSING
    assert edwards("make_table", 1) == (MEMORY,)
    made_edwards(edwards, curve)
    (x, y), n, p, out_of_range = curve.base, curve.n, curve.p, Error.OPERAND_RANGE
    for k in (n, 2**64 - 1):
        assert go(edwards, "ed_base_multiply", k) == out_of_range
        for numbers in ((k, 1, 1), (1, k, 1), (1, 1, k)):
            assert go(edwards, "ed_finish", *numbers) == out_of_range
        assert go(edwards, "ed_verify", x, y, k, x, y, 1) == out_of_range
        assert go(edwards, "ed_verify", x, y, 1, x, y, k) == out_of_range
    assert go(edwards, "ed_verify", p, y, 1, x, y, 1) == out_of_range
    assert go(edwards, "ed_verify", x, y, 1, x, p, 1) == out_of_range
    assert go(edwards, "ed_verify", x, y ^ 1, 1, x, y, 1) == Error.POINT
    assert go(edwards, "ed_verify", x, y, 0, x, y, 1) == ()
    edwards("wrong", registers.OUTPUT_WINDOW.address, 4)
    found = [
        edwards("ed_base_multiply", 1, octets(5)),
        edwards("ed_finish", 3, octets(5), octets(6), octets(7)),
        edwards("ed_verify", 6, *map(octets, (x, y, 0, x, y, 1))),
    ]
    edwards("wrong", 1, 0)
    assert found == [(Error.FAULT, 0, 0), (Error.FAULT, 0), (Error.FAULT,)]


# --- Montgomery form ------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=of_group("montgomery"))
def montgomery(request, tmp_path_factory):
    running = started(tmp_path_factory, request.param, curves="montgomery", max_bits=512)
    yield running
    running.close()


def x_multiply(harness, scalar, u=None):
    """The error's code, or the bytes."""
    code, number = harness("x_multiply", "x" + scalar.hex(), "-" if u is None else "x" + u.hex())
    return code or number.to_bytes(len(scalar))


def made_montgomery(harness, curve):
    assert harness("name_curve", curve.name) == (0, 3, curve.p.bit_length())
    assert harness("make_curve", 0)[0] == 0


@pytest.mark.parametrize(
    ("curve", "scalar", "u", "expected"),
    [VECTORS[0], *(pytest.param(*one, marks=pytest.mark.matrix) for one in VECTORS[1:])],
)
def test_vectors_of_rfc_7748(montgomery, curve, scalar, u, expected):
    made_montgomery(montgomery, curve)
    found = x_multiply(montgomery, bytes.fromhex(scalar), bytes.fromhex(u))
    assert found == bytes.fromhex(expected)


def test_x25519_with_cryptography(montgomery):
    """A public key; a coordinate that is not reduced, with the unused bit; a point of low order."""
    made_montgomery(montgomery, X25519)
    own = x25519.X25519PrivateKey.from_private_bytes(bytes(range(32)))
    assert x_multiply(montgomery, bytes(range(32))) == own.public_key().public_bytes_raw()
    u = (X25519.p + 9 | 1 << 255).to_bytes(32, "little")
    assert x_multiply(montgomery, bytes(range(32)), u) == own.public_key().public_bytes_raw()
    assert x_multiply(montgomery, bytes(32), bytes(32)) == Error.POINT
    assert montgomery("make_table", 0) == (Error.UNSUPPORTED,)


# --- Secrets --------------------------------------------------------------------------------------


@pytest.fixture
def traced(tmp_path):
    """Make a harness that gives how many basic blocks of the driver run, and their hash."""
    flags = ("-O2", "-no-pie", "-DTRACE", "-DSIMULATION", "-DCURVES")
    tracing = "-fsanitize-coverage=trace-pc"
    if not can_compile(tmp_path, tracing, "-c", *flags):
        pytest.skip("the C compiler has no -fsanitize-coverage=trace-pc")
    running = []

    def make(**settings):
        sources = [DRIVER, CURVES[0]]
        made = [tmp_path / f"{source.stem}.o" for source in sources]
        for source, path in zip(sources, made, strict=True):
            compile_c(tmp_path, path.name, *flags, tracing, "-c", source)
        simulation = simulation_of("compact", **settings)
        program = compile_c(tmp_path, "harness", *flags, HARNESS, CURVES[1], *made, simulation)
        running.append(open_driver(Harness(program)))
        return running[-1]

    yield make
    for one in running:
        one.close()


@pytest.mark.proof
@pytest.mark.parametrize(
    "curves",
    [pytest.param(one, marks=pytest.mark.xdist_group(one)) for one in ("weierstrass", "edwards")],
)
def test_no_basic_block_depends_on_a_secret_of_a_signature(traced, curves):
    curve = FIELD_64 if curves == "weierstrass" else SHORT_EDWARDS
    harness = traced(curves=curves, max_bits=1024)
    made(harness, curve)
    if curves == "edwards":  # the table has left a modulus, which the driver sees
        assert call(harness, "ed_base_multiply", 1) == 0
    n, generator = curve.n, random.Random(1)
    secrets = [(1, 1), (n - 1, n - 1), (1 << 61, 1), (2**61 - 1, 2**60)]
    secrets += [(generator.randrange(1, n), generator.randrange(1, n)) for _ in range(4)]
    paths = {
        (name, harness(name, len(numbers), *map(octets, numbers))[:3])
        for one, other in secrets
        for name, *numbers in (
            [
                ("ecdsa_sign_with", one, 5, other),
                ("ec_multiply", one, *curve.base),
                ("ec_base_multiply", one),
            ]
            if curves == "weierstrass"
            else [("ed_base_multiply", one), ("ed_finish", one, 5, other)]
        )
    }
    assert len(paths) == len({name for name, _ in paths})
    assert all(code == 0 and blocks > 1_000 for _, (code, blocks, _) in paths)
    # The measure sees what differs.
    name = "ec_base_multiply" if curves == "weierstrass" else "ed_base_multiply"
    assert harness(name, 1, octets(n))[:3] not in {found for _, found in paths}


@pytest.mark.proof
@pytest.mark.xdist_group("montgomery")
def test_no_basic_block_depends_on_a_scalar_of_x25519(traced):
    harness = traced(curves="montgomery", max_bits=512)
    made_montgomery(harness, X25519)
    scalars = [
        bytes(32),
        bytes(32),
        b"\xff" * 32,
        *(random.Random(k).randbytes(32) for k in range(2)),
    ]
    # Before the first one nothing is loaded, which the driver sees.
    _, *paths = [harness("x_multiply", "x" + one.hex(), "-")[:3] for one in scalars]
    assert len(set(paths)) == 1
