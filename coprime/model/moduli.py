"""Named moduli: fields of elliptic curves and of proof systems, of lattices, and of a thesis.

Each is computed from the expression that defines it. The pairs of COMPRESSION (Vassoler 2023,
equations 22 and 23) are a family: a name for each even n, "vassoler-30" and "vassoler-30-pseudo".
"""

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class NamedModulus:
    """A modulus of special form.

    Parameters
    ----------
    name : what to ask for
    value : the modulus, 3 or more
    expression : what defines it, as it is written; ^ is a power and / divides without remainder
    origin : who uses it, or defined it
    prime : whether it is one
    """

    name: str
    value: int
    expression: str
    origin: str
    prime: bool = True

    @property
    def bits(self) -> int:
        """Length in bits."""
        return self.value.bit_length()


PUBLISHED_PAIRS = (*range(2, 31, 2), 62, 126, 254, 510, 1022)
"""COMPRESSION: n of the pairs that its Tests 2 to 16, 32, 64, 128, 256 and 512 are made of."""


def vassoler_pair(n: int) -> tuple[int, int]:
    """(m2, m1): the modulus (2^(n+2) - 1)/3 of n + 1 bits, and its pseudo-modulus 2^(n+2) - 1.

    m1 = 3 m2. Range: n even, 2 or more.

    Raises ValueError for another n.
    """
    if n < 2 or n % 2:
        raise ValueError(f"n must be even, 2 or more, not {n}")
    pseudo_modulus = 2 ** (n + 2) - 1
    return pseudo_modulus // 3, pseudo_modulus


def _vassoler(n: int) -> tuple[NamedModulus, NamedModulus]:
    modulus, pseudo_modulus = vassoler_pair(n)
    return (
        NamedModulus(
            name=f"vassoler-{n}",
            value=modulus,
            expression=f"(2^{n + 2} - 1)/3",
            origin=f"COMPRESSION, equation 22, n = {n}",
            # (2^(n/2+1) - 1)(2^(n/2+1) + 1)/3 has two factors above 1 but for n = 2.
            prime=n == 2,
        ),
        NamedModulus(
            name=f"vassoler-{n}-pseudo",
            value=pseudo_modulus,
            expression=f"2^{n + 2} - 1",
            origin=f"COMPRESSION, equation 23, n = {n}",
            prime=False,
        ),
    )


# What the curves of pairings are made from.
_BN_T = 4965661367192848881
_BLS_Z = -0xD201000000010000


def _bn254() -> tuple[int, int]:
    """Field and order of the Barreto-Naehrig curve BN254 (EIP-196)."""
    t = _BN_T
    common = 36 * t**4 + 36 * t**3 + 6 * t + 1
    return common + 24 * t**2, common + 18 * t**2


def _bls12_381() -> tuple[int, int]:
    """Field and order of the Barreto-Lynn-Scott curve BLS12-381."""
    z = _BLS_Z
    order = z**4 - z**2 + 1
    return (z - 1) ** 2 * order // 3 + z, order


def _moduli() -> tuple[NamedModulus, ...]:
    bn_field, bn_order = _bn254()
    bls_field, bls_order = _bls12_381()
    nist, zcash = "FIPS 186-4", "pairings: Zcash, Ethereum"
    bn_origin, bn_t = "pairings: Ethereum, EIP-196", f"t = {_BN_T}"
    bls_z = "z = -0xd201000000010000"
    known = (
        ("p-192", 2**192 - 2**64 - 1, "2^192 - 2^64 - 1", nist),
        ("p-224", 2**224 - 2**96 + 1, "2^224 - 2^96 + 1", nist),
        (
            *("p-256", 2**256 - 2**224 + 2**192 + 2**96 - 1),
            *("2^256 - 2^224 + 2^192 + 2^96 - 1", nist),
        ),
        (
            *("p-384", 2**384 - 2**128 - 2**96 + 2**32 - 1),
            *("2^384 - 2^128 - 2^96 + 2^32 - 1", nist),
        ),
        ("p-521", 2**521 - 1, "2^521 - 1", nist),
        ("curve25519", 2**255 - 19, "2^255 - 19", "RFC 7748, X25519 and Ed25519"),
        ("curve448", 2**448 - 2**224 - 1, "2^448 - 2^224 - 1", "RFC 7748, X448 and Ed448"),
        ("secp256k1", 2**256 - 2**32 - 977, "2^256 - 2^32 - 977", "SEC 2, field: Bitcoin"),
        (
            # The number of the curve's points: no shorter form is known.
            *("secp256k1-order", 2**256 - 0x14551231950B75FC4402DA1732FC9BEBF),
            *("2^256 - 0x14551231950b75fc4402da1732fc9bebf", "SEC 2, order: Bitcoin"),
        ),
        ("bn254", bn_field, f"36t^4 + 36t^3 + 24t^2 + 6t + 1, {bn_t}", f"{bn_origin}, field"),
        ("bn254-order", bn_order, f"36t^4 + 36t^3 + 18t^2 + 6t + 1, {bn_t}", f"{bn_origin}, order"),
        ("bls12-381", bls_field, f"(z - 1)^2 (z^4 - z^2 + 1)/3 + z, {bls_z}", f"{zcash}, field"),
        ("bls12-381-order", bls_order, f"z^4 - z^2 + 1, {bls_z}", f"{zcash}, order"),
        ("goldilocks", 2**64 - 2**32 + 1, "2^64 - 2^32 + 1", "proof systems: Plonky2"),
        ("babybear", 2**31 - 2**27 + 1, "2^31 - 2^27 + 1", "proof systems: RISC Zero"),
        ("koalabear", 2**31 - 2**24 + 1, "2^31 - 2^24 + 1", "proof systems: Plonky3"),
        ("mersenne31", 2**31 - 1, "2^31 - 1", "proof systems: Circle STARKs"),
        ("kyber", 13 * 2**8 + 1, "13 * 2^8 + 1", "FIPS 203, ML-KEM"),
        ("dilithium", 2**23 - 2**13 + 1, "2^23 - 2^13 + 1", "FIPS 204, ML-DSA"),
    )
    pairs = (modulus for n in PUBLISHED_PAIRS for modulus in _vassoler(n))
    return (
        *(
            NamedModulus(name=name, value=value, expression=expression, origin=origin)
            for name, value, expression, origin in known
        ),
        *pairs,
    )


MODULI: Mapping[str, NamedModulus] = {modulus.name: modulus for modulus in _moduli()}
"""By name; of COMPRESSION's family those that it publishes figures of."""

_LONGEST = 4096  # maximum length of a written modulus, in bits
_WRITTEN = (
    "write a name, vassoler-N for an even N, a number as 3329 or 0xd01, or a sum of powers as"
    " 2^255 - 19"
)
_PAIR = re.compile(r"vassoler-?([0-9]{1,5})(-pseudo)?")


def _plain(text: str) -> str:
    """A name or an expression in lower case, without spaces and underscores."""
    return re.sub(r"[\s_]+", "", text.lower())


_KNOWN: Mapping[str, NamedModulus] = {
    text: modulus
    for modulus in MODULI.values()
    for text in (_plain(modulus.expression), _plain(modulus.name).replace("-", ""))
}


def modulus_named(name: str) -> NamedModulus:
    """Look a modulus up by its name or by the expression that defines it.

    Capitals, spaces, underscores and a name's hyphens do not matter: "P256", "2^255-19". The
    thesis's family has a name for every even n from 2 to 99998.

    Raises TypeError unless it is a str, ValueError with the nearest names for an unknown one.
    """
    if not isinstance(name, str):
        raise TypeError(f"name must be a str, not {name!r}")
    plain = _plain(name)
    for text in (plain, plain.replace("-", "")):
        if text in _KNOWN:
            return _KNOWN[text]
    if match := _PAIR.fullmatch(plain):
        n = int(match[1])
        if n < 2 or n % 2:
            raise ValueError(f"no modulus is called {name!r}: n must be even, 2 or more, not {n}")
        return _vassoler(n)[1 if match[2] else 0]
    near = difflib.get_close_matches(name.lower(), MODULI, n=3)
    names = [known for known in MODULI if not known.startswith("vassoler")]
    hint = f"did you mean {', '.join(near)}?" if near else f"there are: {', '.join(names)}"
    raise ValueError(f"no modulus is called {name!r}; {hint}")


_TERM = re.compile(r"([+-]?)(?:(\d+)\*)?(?:(\d+)\^(\d+)|0x([0-9a-f]+)|(\d+))")


def modulus_of(text: str) -> int:
    """Return the modulus of 3 or more that a text names or writes.

    A name, as for `modulus_named`; a decimal or hexadecimal number (0x...); or a sum of numbers and
    powers: "2^255 - 19", "3*2^30 + 1". Of up to 4096 bits.

    Raises TypeError unless it is a str, ValueError for anything else, and for less than 3.
    """
    if not isinstance(text, str):
        raise TypeError(f"the modulus must be a str, not {text!r}")
    plain = _plain(text)
    value, place = 0, 0
    while place < len(plain) or not plain:
        match = _TERM.match(plain, place)
        if match is None or (place and not match[1]):
            try:
                value = modulus_named(text).value
            except ValueError as error:
                raise ValueError(f"{error}; {_WRITTEN}") from None
            break
        sign, times, base, exponent, hexadecimal, decimal = match.groups()
        # A digit has at least 3 bits.
        if any(number and len(number) > _LONGEST // 3 for number in match.groups()):
            raise ValueError(_too_long(text))
        if base:
            if int(base).bit_length() * int(exponent) > 2 * _LONGEST:
                raise ValueError(_too_long(text))
            term = int(base) ** int(exponent)
        else:
            term = int(hexadecimal, 16) if hexadecimal else int(decimal)
        value += (-1 if sign == "-" else 1) * int(times or 1) * term
        place = match.end()
    if value < 3:
        raise ValueError(f"the modulus must be 3 or more, not {text!r}")
    if value.bit_length() > _LONGEST:
        raise ValueError(_too_long(text))
    return value


def _too_long(text: str) -> str:
    shown = text if len(text) < 40 else f"{text[:30]}..."
    return f"the modulus must have at most {_LONGEST} bits: {shown!r} is longer"
