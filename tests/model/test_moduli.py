"""Named moduli are what their expressions say, and what others compute with."""

import random
import re

import pytest
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.x448 import X448PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from coprime.model.moduli import MODULI, PUBLISHED_PAIRS, modulus_named, modulus_of, vassoler_pair

FIELDS = {
    "p-192": (ec.SECP192R1, -3),
    "p-224": (ec.SECP224R1, -3),
    "p-256": (ec.SECP256R1, -3),
    "p-384": (ec.SECP384R1, -3),
    "p-521": (ec.SECP521R1, -3),
    "secp256k1": (ec.SECP256K1, 0),
}
"""By modulus: the curve of `cryptography`, and a of y^2 = x^3 + ax + b."""


def is_prime(number, rounds=24):
    """Miller and Rabin's test with bases from a seed; a composite passes with at most 4^-rounds."""
    if number < 4 or number % 2 == 0:
        return number in (2, 3)
    generator = random.Random(number)
    twos = ((number - 1) & (1 - number)).bit_length() - 1
    for _ in range(rounds):
        power = pow(generator.randrange(2, number - 1), (number - 1) >> twos, number)
        if power in (1, number - 1):
            continue
        for _ in range(twos - 1):
            power = power * power % number
            if power == number - 1:
                break
        else:
            return False
    return True


def test_the_test_of_primes():
    primes = [n for n in range(2, 2000) if all(n % d for d in range(2, n))]
    assert [n for n in range(2000) if is_prime(n)] == primes


@pytest.mark.parametrize("name", MODULI)
def test_primes_are_said_to_be(name):
    modulus = MODULI[name]
    assert modulus.name == name
    assert is_prime(modulus.value) is modulus.prime
    assert modulus.bits == modulus.value.bit_length()
    assert modulus.origin


@pytest.mark.parametrize("name", MODULI)
def test_expressions_are_their_values(name):
    """The text, as Python computes it; what does not divide does not pass."""
    text, _, parameter = MODULI[name].expression.partition(", ")
    variables = {}
    if parameter:
        variable, value = parameter.split(" = ")
        variables[variable] = int(value, 0)
    text = re.sub(r"(\d|\))\s*([tz(])", r"\1*\2", text)
    numerator, divisor, rest = re.fullmatch(r"(.*?)(?:/(\d+)(.*))?", text).groups()
    value = eval(numerator.replace("^", "**"), {}, variables)
    if divisor:
        value, remainder = divmod(value, int(divisor))
        assert remainder == 0
        value = eval(f"{value}{rest}", {}, variables)
    assert value == MODULI[name].value


@pytest.mark.parametrize("name", FIELDS)
def test_fields_of_curves(name):
    """The same b for every point that `cryptography` computes."""
    curve, a = FIELDS[name]
    p = MODULI[name].value
    found = set()
    for secret in (1, 2, 3, 12345):
        try:
            point = ec.derive_private_key(secret, curve()).public_key().public_numbers()
        except UnsupportedAlgorithm:
            pytest.skip(f"cryptography was built without {curve.name}")
        found.add((point.y**2 - point.x**3 - a * point.x) % p)
        assert max(point.x, point.y) < p
    assert len(found) == 1
    if name == "secp256k1":
        assert found == {7}


def test_order_of_secp256k1():
    """-1 times the generator is the generator with y negated."""
    p, order = MODULI["secp256k1"].value, MODULI["secp256k1-order"].value
    one, minus_one = (
        ec.derive_private_key(secret, ec.SECP256K1()).public_key().public_numbers()
        for secret in (1, order - 1)
    )
    assert (minus_one.x, minus_one.y) == (one.x, p - one.y)
    with pytest.raises(ValueError):
        ec.derive_private_key(order, ec.SECP256K1())


@pytest.mark.parametrize(
    ("name", "key", "a"),
    [("curve25519", X25519PrivateKey, 486662), ("curve448", X448PrivateKey, 156326)],
)
def test_fields_of_montgomery_curves(name, key, a):
    """Public keys are abscissas: u^3 + a u^2 + u is a square, by Euler's criterion."""
    p = MODULI[name].value
    generator = random.Random(name)
    for _ in range(32):
        secret = generator.randbytes(32 if name == "curve25519" else 56)
        u = int.from_bytes(key.from_private_bytes(secret).public_key().public_bytes_raw(), "little")
        assert u < p
        assert pow(u**3 + a * u**2 + u, (p - 1) // 2, p) == 1


def add(one, other, p):
    """Sum of two points of y^2 = x^3 + b; None is the neutral one."""
    if one is None or other is None:
        return one or other
    (x, y), (u, v) = one, other
    if x == u and (y + v) % p == 0:
        return None
    slope = (3 * x * x * pow(2 * y, -1, p) if one == other else (v - y) * pow(u - x, -1, p)) % p
    third = (slope * slope - x - u) % p
    return third, (slope * (x - third) - y) % p


def times(factor, point, p):
    result = None
    for bit in f"{factor:b}":
        result = add(result, result, p)
        if bit == "1":
            result = add(result, point, p)
    return result


@pytest.mark.parametrize(("name", "b", "cofactor"), [("bn254", 3, 1), ("bls12-381", 4, None)])
def test_orders_of_pairings(name, b, cofactor):
    p, order = MODULI[name].value, MODULI[f"{name}-order"].value
    if cofactor is None:
        z = -0xD201000000010000
        cofactor = (z - 1) ** 2 // 3
    assert p % 4 == 3
    found = 0
    for x in range(1, 12):
        y = pow(x**3 + b, (p + 1) // 4, p)
        if (y * y - x**3 - b) % p:
            continue
        found += 1
        inside = times(cofactor, (x, y), p)
        assert inside is not None
        assert times(order, inside, p) is None
    assert found > 2


@pytest.mark.parametrize(
    ("name", "value", "twos"),
    [
        ("goldilocks", 0xFFFF_FFFF_0000_0001, 32),
        ("babybear", 0x7800_0001, 27),
        ("koalabear", 0x7F00_0001, 24),
        ("mersenne31", 0x7FFF_FFFF, 1),
        ("kyber", 3329, 8),
        ("dilithium", 8380417, 13),
    ],
)
def test_moduli_of_transforms(name, value, twos):
    modulus = MODULI[name].value
    assert modulus == value
    assert (modulus - 1) % 2**twos == 0 != (modulus - 1) % 2 ** (twos + 1)


def test_pairs_of_the_thesis():
    for n in PUBLISHED_PAIRS:
        m2, m1 = vassoler_pair(n)
        assert m1 == 3 * m2 == 2 ** (n + 2) - 1
        assert m2 == 2**n + sum(2 ** (2 * i) for i in range(n // 2))
        assert m2.bit_length() == n + 1
        assert modulus_named(f"vassoler-{n}").value == m2
        assert modulus_named(f"vassoler-{n}-pseudo").value == m1
    assert [vassoler_pair(n)[0] for n in (2, 4, 6, 8)] == [5, 21, 85, 341]
    assert vassoler_pair(30)[0] == 2**30 + 357913941
    assert modulus_named("vassoler-40").value == (2**42 - 1) // 3


@pytest.mark.parametrize("n", [-2, 0, 1, 3, 31])
def test_pairs_have_even_n(n):
    with pytest.raises(ValueError, match=f"n must be even, 2 or more, not {n}"):
        vassoler_pair(n)
    if n >= 0:
        with pytest.raises(ValueError, match=f"n must be even, 2 or more, not {n}"):
            modulus_named(f"vassoler-{n}")


def test_names_and_expressions_are_found():
    for name, modulus in MODULI.items():
        assert modulus_named(name) is modulus
        assert modulus_named(f" {name.upper()} ") is modulus
        assert modulus_named(modulus.expression).value == modulus.value
    assert modulus_named("2^255-19") is MODULI["curve25519"]
    assert modulus_named("P256") is MODULI["p-256"]
    assert modulus_named("secp256k1_order") is MODULI["secp256k1-order"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("p-255", r"'p-255'; did you mean p-\d+, p-\d+, p-\d+\?"),
        ("goldilock", r"'goldilock'; did you mean goldilocks\?"),
        ("vassoler-3O", r"'vassoler-3O'; did you mean vassoler-30, "),
        ("zzz", "'zzz'; there are: p-192, p-224, .*, dilithium$"),
        ("", "''; there are: p-192"),
    ],
)
def test_unknown_names(name, message):
    with pytest.raises(ValueError, match=message):
        modulus_named(name)


def test_a_name_is_text():
    with pytest.raises(TypeError, match="name must be a str, not 3329"):
        modulus_named(3329)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("p-256", MODULI["p-256"].value),
        ("2^255 - 19", 2**255 - 19),
        ("3*2^30+1", 3 * 2**30 + 1),
        ("2^64-2^32+1", 2**64 - 2**32 + 1),
        ("0xC5", 197),
        ("197", 197),
        ("0197", 197),
        ("2^4096 - 1", 2**4096 - 1),
        ("vassoler-4094", (2**4096 - 1) // 3),
        ("100 - 0x10", 84),
    ],
)
def test_a_modulus_is_a_name_a_number_or_a_sum(text, value):
    assert modulus_of(text) == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *((text, "must be 3 or more, not ") for text in ("2", "0", "1 - 5")),
        *(
            (text, r"no modulus is called .*; write a name, .* a sum of powers as 2\^255 - 19$")
            for text in ("2**5", "d01", "(2^40 - 1)/3", "p-", "3 - ", "", "goldilock")
        ),
        *(
            (text, "must have at most 4096 bits: .* is longer")
            for text in ("2^4096", "2^9999 - 1", "99999999999^4000", "9" * 5000, "vassoler-99998")
        ),
    ],
)
def test_what_is_no_modulus(text, message):
    with pytest.raises(ValueError, match=message):
        modulus_of(text)


def test_a_modulus_is_written_as_text():
    with pytest.raises(TypeError):
        modulus_of(197)
