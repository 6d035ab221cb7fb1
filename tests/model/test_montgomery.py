import pytest

from coprime.model import montgomery

PRIMES = (3, 5, 7, 11, 13, 17, 19, 23, 29, 31)


@pytest.mark.parametrize("width", [1, 2, 3, 17])
@pytest.mark.parametrize("headroom", [0, 2])
def test_digits(width, headroom):
    assert montgomery.digits(0, width, headroom) == 0
    for length in range(1, 100):
        count = montgomery.digits(length, width, headroom)
        assert (count - 1) * width < length + headroom <= count * width


@pytest.mark.parametrize("width", [1, 2, 5, 17, 64])
def test_inverse(width):
    for modulus in range(1, 200, 2):
        inverse = montgomery.inverse(modulus, width)
        assert 0 <= inverse < 1 << width
        assert (inverse * modulus + 1) % (1 << width) == 0
        assert montgomery.inverse(modulus - 1, width) == 0


def test_powers():
    for modulus in range(1, 64):
        for exponent in range(13):
            power = montgomery.modulus_power(modulus, exponent)
            assert power == (1 << exponent) ** 2 % modulus
            for other in range(7):
                assert montgomery.prime_power(modulus, exponent, other) == (
                    2 ** (exponent + other) % modulus
                )
    assert montgomery.modulus_power(0, 3) == 0
    assert montgomery.prime_power(0, 3, 2) == 0


@pytest.mark.parametrize("width", [0, 1, 3, 17])
def test_crt_factors_recombine(width):
    """Every message below every product of two small primes of any lengths. Width 0: R is 1."""
    for p in PRIMES:
        for q in PRIMES:
            if p == q:
                continue
            n = p * q
            p_exponent, q_exponent = (
                width * montgomery.digits(x.bit_length(), width, 2) if width else 0 for x in (p, q)
            )
            p_factor = montgomery.crt_factor(p, q, n, p_exponent)
            q_factor = montgomery.crt_factor(q, p, n, q_exponent)
            assert 0 < p_factor < n
            p_shift, q_shift = (pow(2, -exponent, n) for exponent in (p_exponent, q_exponent))
            for x in range(n):
                assert (x % p * p_factor * p_shift + x % q * q_factor * q_shift) % n == x


def test_crt_factors_of_an_even_modulus():
    """The product 2 * q, where R is 1."""
    for q in PRIMES:
        factors = montgomery.crt_factor(2, q, 2 * q, 0), montgomery.crt_factor(q, 2, 2 * q, 0)
        for x in range(2 * q):
            assert (x % 2 * factors[0] + x % q * factors[1]) % (2 * q) == x


def test_factors_that_do_not_exist_are_0():
    assert montgomery.crt_factor(15, 5, 75, 17) == 0
    assert montgomery.crt_factor(7, 0, 0, 17) == 0
    assert montgomery.crt_factor(0, 7, 35, 17) == 0
    assert montgomery.crt_factor(7, 7, 49, 17) == 0


def test_reduced():
    for modulus in range(1, 32, 2):
        for bits in range(5):
            for value in range(100):
                result = montgomery.reduced(value, modulus, bits)
                assert (result << bits) % modulus == value % modulus
                assert result << bits < value + (modulus << bits) or not value


@pytest.mark.parametrize("rounds", [2, 3])
def test_scaled_product(rounds):
    """Modulo c * M, whose lowest digit is -1; or in the last round modulo M."""
    width = 3
    for modulus in range(1, 32, 2):
        whole = montgomery.inverse(modulus, width) * modulus
        assert whole % (1 << width) == (1 << width) - 1
        for x, y in ((whole, 5), (17, 2 * whole), (whole - 1, whole - 1)):
            for descale in (False, True):
                result = montgomery.scaled_product(x, y, modulus, width, rounds, descale=descale)
                assert (result << width * rounds) % modulus == x * y % modulus
                assert result < (x * y >> width * rounds) + whole + 1
