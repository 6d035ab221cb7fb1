"""MICROCONTROLLERS: X25519 in software on small processors.

Michael Düll and others, "High-speed Curve25519 on 8-bit, 16-bit, and 32-bit microcontrollers",
Designs, Codes and Cryptography, 2015.
"""

from .curve_sources import curve_cycles
from .published import read_publication

_PRINTED = read_publication("microcontrollers")
TABLES = (_PRINTED.table("Cortex-M0", {"Cortex-M0": {"Cycles": curve_cycles("X_MULTIPLY", 255)}}),)
