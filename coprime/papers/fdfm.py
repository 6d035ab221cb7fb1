"""FDFM: the parallel FDFM processor core approach.

Yasuaki Ito, Koji Nakano, Bo Song, "The Parallel FDFM Processor Core Approach for CRT-based RSA
Decryption", International Journal of Networking and Computing, accepted December 2011.
"""

from collections.abc import Mapping

__all__ = [
    "CRT_CYCLES",
    "CRT_MILLISECONDS",
    "ONE_CORE",
    "crt_cycles",
    "multiplication_cycles",
    "products",
    "utilization",
]

CRT_CYCLES: Mapping[int, int] = {
    64: 4_312,
    128: 19_768,
    256: 110_392,
    512: 713_048,
    1024: 4_625_348,
    2048: 33_067_148,
}
"""Table 2: cycles of a CRT decryption in the worst case, by modulus length in bits."""

CRT_MILLISECONDS: Mapping[int, float] = {
    64: 0.013,
    128: 0.059,
    256: 0.328,
    512: 2.118,
    1024: 13.737,
    2048: 98.210,
}
"""Table 2: the same as a time, at 336.7 MHz."""

ONE_CORE: Mapping[str, float] = {
    "slices": 140,
    "bram36": 1,
    "dsp48e1": 1,
    "megahertz": 336.7,
}
"""Table 1: one core on a Virtex-6 XC6VLX240T-1; a slice has four six-input LUTs."""


def products(d: int) -> int:
    """Equation 7: digit products of a multiplication of d digits."""
    return 2 * d**2 + d


def multiplication_cycles(d: int) -> int:
    """Equation 8: cycles of a multiplication of d digits."""
    return 2 * d**2 + 8 * d + 4


def utilization(d: int) -> float:
    """Figure 6: equation 7 over equation 8."""
    return products(d) / multiplication_cycles(d)


def crt_cycles(d1: int, d2: int) -> int:
    """Equation 10: cycles of a CRT decryption, d1 digits the modulus and d2 each prime."""
    return 4 * (34 * d2**3 + 140 * d2**2 + 3 * d1 * d2 + 8 * d1 + 88 * d2 + 14)
