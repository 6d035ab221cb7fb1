"""IPECC: the multiplication of points on any curve, with many countermeasures.

github.com/ANSSI-FR/IPECC, README.md.
"""

from .curve_sources import signatures_a_second
from .published import read_publication

_PRINTED = read_publication("ipecc")
_BITS = {"SECP256R1": 256, "SECP384R1": 384, "SECP521R1": 521}
TABLES = (
    _PRINTED.table(
        "Performance test",
        {
            label: {
                "Signatures": signatures_a_second("ECDSA_SIGN_WITH", bits),
                "Verifications": signatures_a_second("ECDSA_VERIFY", bits),
            }
            for label, bits in _BITS.items()
        },
    ),
)
