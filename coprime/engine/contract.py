"""The engine contract: what every family offers to the bus above it.

An engine is an operand memory of W-bit digits, a command, busy/done and an error code. Front
ends and cluster nodes use engines only through this file.

Protocol
--------
* While `busy` is 0, one digit per cycle may be written: `write` with `operand`, `index`, `digit`.
  Digit 0 is the least significant. An operand of a length class holds exactly that class's number
  of digits; the writer pads with zero digits. If the engine is `aligned`, an operand is at the
  upper end of its digits, and the padding below it; exponents are always at the lower end.
* X must be written before each command, which may use it up; the other operands remain, except
  those that RSA_PRIVATE uses up if it is `checked`.
* `start` is sampled while `busy` is 0, together with `command`, the `counts` of digits and the
  `lengths` in bits, which must not change while `busy` is 1. `busy` is 1 from the next cycle on.
  `done` is 1 only in the last busy cycle. `error` is valid from that cycle until the next
  `start`. The cycles of an operation are the cycles in which `busy` is 1.
* While `busy` is 0, `result_digit` is digit `index` of the result, RESULT_LATENCY cycles later,
  for any `operand`; beyond the result's digits it is undefined. The result is the only operand
  that can be read. A command that ends with an error does not change it. If the engine is
  `checked` and a digit of RSA_PRIVATE's result differs from the checked one, `error` becomes
  FAULT, at most two cycles after the digit, and `busy` is 1 until the memory is wiped.
* If the engine is `checked`, `residue` after RSA_PRIVATE is that of 3 S - M + X as the check
  has used them, modulo `residue_modulus`. After operations on curves with a
  checked result it is that of S + X; after other commands it is undefined.
* `multiplying` is the number of multipliers that a needed product enters in a busy cycle (a product
  computed twice counts once, a discarded one not); 0 with `done`. Its sum, divided by the cycles
  and the number of multipliers, is the utilization.
* A `bare` engine has one command, and its `index` is the address of a word of its memory, for
  writing and for reading, whatever `operand` is. Lengths are those that the host has checked.
* An engine that `draws` has the stream `random`. It takes random bytes, and waits for them, while
  it is `busy` with a blinded RSA_PRIVATE or with an operation on a curve.
"""

from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from coprime.operations.commands import Command
from coprime.program.operands import Length, Operand

from .capabilities import (
    COMMAND_BITS,
    ERROR_BITS,
    OPERAND_BITS,
    RESULT_LATENCY,
    Capabilities,
    Error,
    WordAddresses,
)
from .residue import residue_width

__all__ = [
    "COMMAND_BITS",
    "ERROR_BITS",
    "OPERAND_BITS",
    "RESULT_LATENCY",
    "Capabilities",
    "Command",
    "EngineSignature",
    "Error",
    "Length",
    "Operand",
    "PerLength",
    "WordAddresses",
    "capabilities_of",
]


class PerLength(data.StructLayout):
    """A number of `width` bits for each length class except DIGIT.

    The fields are `modulus`, `exponent`, `p` and `q`, in the order of `Length`.
    """

    def __init__(self, width: int):
        super().__init__({length.field: width for length in Length if length is not Length.DIGIT})


class EngineSignature(wiring.Signature):
    """The engine's ports as described above, seen from the engine."""

    def __init__(self, capabilities: Capabilities):
        ports = {
            "write": In(1),
            "operand": In(capabilities.operand_bits),
            "index": In(capabilities.index_bits),
            "digit": In(capabilities.digit_width),
            "result_digit": Out(capabilities.digit_width),
            "counts": In(PerLength(capabilities.count_bits)),
            "lengths": In(PerLength(capabilities.length_bits)),
            "command": In(capabilities.command_bits),
            "start": In(1),
            **dict.fromkeys(("busy", "done"), Out(1)),
            "error": Out(ERROR_BITS),
            "multiplying": Out(bits_for(capabilities.multipliers)),
        }
        if capabilities.draws:
            ports["random"] = In(stream.Signature(8))
        if capabilities.checked:
            ports["residue"] = Out(residue_width(capabilities.digit_width) + 1)
        super().__init__(ports)


def capabilities_of(engine: wiring.Component) -> Capabilities:
    """Give the capabilities of an engine; TypeError if it is none, by its attribute or ports."""
    capabilities = getattr(engine, "capabilities", None)
    if not isinstance(capabilities, Capabilities):
        raise TypeError(f"engine must have capabilities, and {engine!r} has not")
    if engine.signature.members != EngineSignature(capabilities).members:
        raise TypeError(f"engine must have the ports of EngineSignature, and {engine!r} has not")
    return capabilities
