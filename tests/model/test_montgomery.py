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


@pytest.mark.parametrize("width", [1, 2, 3])
def test_powers(width):
    for modulus in range(1, 64):
        for count in range(1, 5):
            power = montgomery.modulus_power(modulus, width, count)
            assert power == (1 << width * count) ** 2 % modulus
            assert montgomery.prime_power(modulus, width, count, 2) == (
                2 ** (width * (count + 2)) % modulus
            )
    assert montgomery.modulus_power(0, width, 3) == 0
    assert montgomery.prime_power(0, width, 3, 2) == 0


@pytest.mark.parametrize("width", [1, 3, 17])
def test_crt_factors_recombine(width):
    """Every message below every product of two small primes of any lengths."""
    for p in PRIMES:
        for q in PRIMES:
            if p == q:
                continue
            n = p * q
            p_count, q_count = (montgomery.digits(x.bit_length(), width, 2) for x in (p, q))
            p_factor = montgomery.crt_factor(p, q, n, width, p_count)
            q_factor = montgomery.crt_factor(q, p, n, width, q_count)
            assert 0 < p_factor < n
            p_shift, q_shift = (pow(2, -width * count, n) for count in (p_count, q_count))
            for x in range(n):
                assert (x % p * p_factor * p_shift + x % q * q_factor * q_shift) % n == x


def test_factors_that_do_not_exist_are_0():
    assert montgomery.crt_factor(15, 5, 75, 17, 1) == 0
    assert montgomery.crt_factor(7, 0, 0, 17, 1) == 0
    assert montgomery.crt_factor(0, 7, 35, 17, 1) == 0
    assert montgomery.crt_factor(7, 7, 49, 17, 1) == 0
