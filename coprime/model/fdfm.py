"""FDFM's algorithms in integers, line by line: Algorithm 3, Algorithm 2 and section 4.

Source: Ito, Nakano, Song, "The Parallel FDFM Processor Core Approach for CRT-based RSA Decryption"
(2011). The ranges in the paper's preconditions are asserted as it goes.
"""

RADIX_BITS = 17
_MASK = (1 << RADIX_BITS) - 1


def to_digits(value: int, count: int) -> list[int]:
    """Digits of `value`, least significant first; ValueError if it needs more than `count`."""
    if value < 0 or value >> (RADIX_BITS * count):
        raise ValueError(f"{value} does not fit {count} digits of {RADIX_BITS} bits")
    return [value >> (RADIX_BITS * k) & _MASK for k in range(count)]


def montgomery(x: int, y: int, m: int, inner: int, outer: int) -> int:
    """Algorithm 3: x * y * 2^(-17*outer) mod m, with x and m of `inner`, y of `outer` digits.

    The result is below x*y / 2^(17*outer) + m, and must fit in `inner` digits.
    """
    X = [*to_digits(x, inner), 0]
    Y = to_digits(y, outer)
    M = [*to_digits(m, inner), 0]
    m_inverse = -pow(m, -1, 1 << RADIX_BITS) & _MASK
    S = [0] * (inner + 1)
    for i in range(outer):
        q = (X[0] * Y[i] + S[0]) * m_inverse & _MASK
        c_alpha = c_beta = c_gamma = c_s = 0
        following = [0] * (inner + 1)
        for j in range(inner + 1):
            c_alpha, alpha = divmod(X[j] * Y[i] + c_alpha, 1 << RADIX_BITS)
            c_beta, beta = divmod(q * M[j] + c_beta, 1 << RADIX_BITS)
            c_gamma, gamma = divmod(alpha + beta + c_gamma, 1 << RADIX_BITS)
            c_s, digit = divmod(gamma + S[j] + c_s, 1 << RADIX_BITS)
            assert c_alpha <= _MASK and c_beta <= _MASK and c_gamma <= 1 and c_s <= 1
            if j == 0:
                assert digit == 0, "q makes the lowest digit zero"
            else:
                following[j - 1] = digit
        assert c_alpha == c_beta == c_gamma == c_s == 0, "the sum has left its digits"
        S = following
    return sum(digit << (RADIX_BITS * j) for j, digit in enumerate(S))


def modular_exponentiation(x: int, e: int, m: int, count: int) -> int:
    """Algorithm 2 with Algorithm 3: x^e mod m, at most m. `count` digits hold 4 m."""
    assert 4 * m <= 1 << (RADIX_BITS * count)
    power = pow(2, 2 * RADIX_BITS * count, m)

    def times(left: int, right: int) -> int:
        product = montgomery(left, right, m, count, count)
        assert product < 2 * m
        return product

    c = times(power, 1)
    p = times(power, x)
    for i in reversed(range(e.bit_length())):
        c = times(c, c)
        if e >> i & 1:
            c = times(c, p)
    return times(c, 1)


def crt_decryption(c: int, p: int, q: int, dp: int, dq: int) -> int:
    """Section 4: the four steps that decrypt c modulo p * q."""
    m = p * q
    # Step 1
    c_p, c_q = c % p, c % q
    # Step 2
    p_p = modular_exponentiation(c_p, dp, p, _digits(p))
    p_q = modular_exponentiation(c_q, dq, q, _digits(q))
    # Step 3
    z_p, z_q = pow(q, p - 1, m), pow(p, q - 1, m)
    s_p, s_q = p_p * z_p % m, p_q * z_q % m
    # Step 4
    total = s_p + s_q
    return total - m if total >= m else total


def _digits(modulus: int) -> int:
    return -(-(modulus.bit_length() + 2) // RADIX_BITS)
