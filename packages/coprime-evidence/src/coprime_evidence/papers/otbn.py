"""OTBN: the big number accelerator of OpenTitan, a processor for elliptic curves and RSA.

"Introduction to OTBN", hw/ip/otbn/doc/otbn_intro.md of OpenTitan.
"""

from .curve_sources import curve_cycles
from .published import Measured, Source, read_publication

_PRINTED = read_publication("otbn")


def _rsa(operation: str, bits: int) -> tuple[Source, ...]:
    return (
        Measured(
            column="predicted_cycles",
            family="compact",
            bits=bits,
            operation=operation,
            exponents="random",
            parameters={"blinding": "none"},
            part="accelerator",
            where="compact, 1 DSP slice",
        ),
    )


_CYCLES = {
    "P256 scalar mult": curve_cycles("EC_MULTIPLY", 256),
    "ECDSA-P256 sign": curve_cycles("ECDSA_SIGN_WITH", 256),
    "ECDH-P256 verify": curve_cycles("ECDSA_VERIFY", 256),
    "P384 scalar mult": curve_cycles("EC_MULTIPLY", 384),
    "ECDSA-P384 sign": curve_cycles("ECDSA_SIGN_WITH", 384),
    "ECDSA-P384 verify": curve_cycles("ECDSA_VERIFY", 384),
    "X25519": curve_cycles("X_MULTIPLY", 255),
    **{f"RSA-{bits} modexp (e=65537)": _rsa("RSA_PUBLIC", bits) for bits in (2048, 3072, 4096)},
    **{f"RSA-{bits} modexp": _rsa("MODEXP", bits) for bits in (2048, 3072)},
}
TABLES = (
    _PRINTED.table("Performance", {label: {"Cycles": own} for label, own in _CYCLES.items()}),
)
