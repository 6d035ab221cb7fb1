"""CALIPTRA: a core for P-384 in a root of trust, with a blinded scalar.

"Caliptra Hardware Specification", section ECC.
"""

from .curve_sources import curve_cycles
from .published import read_publication

_PRINTED = read_publication("caliptra")
_BITS = 384
_CYCLES = {
    "Keygen": curve_cycles("EC_BASE_MULTIPLY", _BITS),
    "Signing": curve_cycles("ECDSA_SIGN_WITH", _BITS),
    "Verifying": curve_cycles("ECDSA_VERIFY", _BITS),
    "ECDH": curve_cycles("EC_MULTIPLY", _BITS),
}
_HERE = {label: {"Cycle count": sources} for label, sources in _CYCLES.items()}
TABLES = tuple(
    _PRINTED.table(number, _HERE)
    for number in ("ECC, performance", "ECC, performance, earlier edition")
)
