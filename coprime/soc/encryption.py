"""Encryption and decryption on a simulated system with padding in hardware: COMPRESSION's system.

Source: COMPRESSION (Vassoler 2023), sections 4.4, 4.5 and 5.4, Figures 23 and 34. The firmware
reads and writes the registers of Table 6 in the sequence of Figure 23. What differs: the driver
loads the key, which the thesis builds in; an accelerator with RSA_PRIVATE decrypts with the Chinese
Remainder Theorem; OAEP is the thesis's future work.
"""

import hashlib
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from coprime.bus.padding_control import LONGEST_BYPASSED
from coprime.catalog import Choice
from coprime.device.jobs import words_of
from coprime.engine.design import Design
from coprime.model.padding_formats import DIGEST_BYTES
from coprime.padding.scheme import Padding, Scheme, task_of
from coprime.padding.tasks import overhead
from coprime.rsa import keys
from coprime.rsa.defaults import EXPONENT
from coprime.rsa.fixed_keys import FixedKey
from coprime.rsa.padding import DecryptionError, EncryptionPadding, Oaep, Pkcs1Encryption
from coprime.rsa.primes import random_prime
from coprime.soc import decryption
from coprime.soc.firmware import build_firmware, find_toolchain
from coprime.soc.riscv import find_processor, system_verilog
from coprime.soc.simulated_system import DIVISOR

SystemKey = keys.RsaPrivateKey | FixedKey
PROGRAM = "encryption"
"""The firmware's program."""
SHORTEST = 24
"""Bits of the shortest test key: its messages have two bytes."""

_ENCODINGS: Mapping[Padding, EncryptionPadding] = {
    Padding.PKCS1: Pkcs1Encryption(),
    Padding.OAEP: Oaep(),
}
_MESSAGE = re.compile(r"^message: (.*)$", re.MULTILINE)
_CIPHERTEXT = re.compile(r"^ciphertext: ([0-9a-f]*)$", re.MULTILINE)


@dataclass(frozen=True)
class EncryptionRun:
    """What the firmware printed, and what follows from it.

    Parameters
    ----------
    choice : the accelerator
    key : its numbers
    decrypts : STATUS.DECRYPT
    padding : in hardware; None: there is none
    message : what was encrypted, or must come out
    compiler : the first line of its --version
    transcript : all that the UART sent
    total : clock cycles from the processor's start to its end
    predicted : cycles of the engine that its design predicts
    """

    choice: Choice
    key: SystemKey
    decrypts: bool
    padding: Padding | None
    message: str
    compiler: str
    transcript: str
    total: int
    predicted: int

    @property
    def cycles(self) -> Mapping[str, int]:
        """Cycles of each part, by the name that the firmware prints."""
        return decryption.cycles_in(self.transcript)

    @property
    def interrupts(self) -> int:
        """How many the processor took for the operation."""
        return decryption.interrupts_in(self.transcript)

    @property
    def ciphertext(self) -> int | None:
        """What an encryption printed."""
        found = _CIPHERTEXT.search(self.transcript)
        return int(found[1], 16) if found else None

    @property
    def result(self) -> str | None:
        """The message: as a decryption printed it, or as Python decrypts the ciphertext; None if
        there is none, or if its padding is wrong."""
        if self.decrypts:
            found = _MESSAGE.search(self.transcript)
            return found[1] if found else None
        if self.ciphertext is None:
            return None
        encoded = pow(self.ciphertext, self.key.d, self.key.n).to_bytes(self.key.size)
        if self.padding is None:
            return encoded.lstrip(b"\0").decode(errors="replace")
        try:
            return _ENCODINGS[self.padding].decode(encoded, b"").decode(errors="replace")
        except DecryptionError:
            return None

    @property
    def right(self) -> bool:
        """Whether the result is the message, and the engine's cycles are those predicted."""
        return self.result == self.message and self.cycles.get("engine") == self.predicted

    def table(self) -> str:
        """Cycles of the parts of Figure 23, and of what is done once for a key, as text."""
        of = self.cycles
        rows = [
            ("input, its length, start", of["input in, start"]),
            ("padding, conversion, interrupt", of["waiting"] - of["engine"]),
            ("engine", of["engine"]),
            ("output", of["result out"]),
            ("all", of["operation"]),
        ]
        once = [(name, of[name]) for name in ("constants of the key", "loading the key")]
        name = "a decryption" if self.decrypts else "an encryption"
        return "\n".join(
            [
                *(
                    f"{name:<34}{'cycles':>13}",
                    *(f"{part:<34}{count:>13,}" for part, count in rows),
                ),
                "",
                *(f"{'once for a key':<34}{'cycles':>13}",),
                *(f"{part:<34}{count:>13,}" for part, count in once),
            ]
        )

    def record(self) -> dict[str, object]:
        """All of it, for JSON."""
        ciphertext = None if self.ciphertext is None else f"{self.ciphertext:x}"
        return {
            "family": self.choice.family.name,
            "parameters": dict(self.choice.values),
            "operation": "decrypt" if self.decrypts else "encrypt",
            "padding": "none" if self.padding is None else self.padding.value,
            "bits": self.key.bits,
            "modulus": f"{self.key.n:x}",
            "exponent": self.key.e,
            "compiler": self.compiler,
            "message": self.result,
            "ciphertext": ciphertext,
            "right": self.right,
            "cycles": dict(self.cycles),
            "predicted_engine": self.predicted,
            "interrupts": self.interrupts,
            "total": self.total,
            "transcript": self.transcript,
        }


# --- The key and the message --------------------------------------------------------------------


def test_key(bits: int, e: int | None = None, *, seed: int = 1) -> keys.RsaPrivateKey:
    """Make a TEST KEY, which can be as short as the thesis's: 24 bits or more, e of 65537.

    Raises TypeError or ValueError for a length or an exponent out of range.
    """
    e = EXPONENT if e is None else e
    if bits >= keys.MIN_BITS:
        return keys.generate(bits, e, seed=seed)
    if bits < SHORTEST:
        raise ValueError(f"bits must be {SHORTEST} or more, not {bits}")
    if e < 3 or e % 2 == 0 or e >> (bits - 1):
        raise ValueError(
            f"with {bits} bits e must be odd, 3 or more and below the modulus, not {e}"
        )
    bits_of = random.Random(seed).getrandbits
    p = q = random_prime((bits + 1) // 2, e, bits_of)
    while p == q:
        q = random_prime(bits // 2, e, bits_of)
    return keys.RsaPrivateKey.from_primes(p, q, e)


def default_padding(bits: int) -> Padding | None:
    """The thesis's padding: PKCS #1 v1.5, bypassed for keys of 64 bits or less."""
    return None if bits <= LONGEST_BYPASSED else Padding.PKCS1


def check_padding(padding: Padding | None, bits: int) -> None:
    """Raise ValueError for a padding that keys of this length do not have."""
    if padding is not None and bits <= LONGEST_BYPASSED:
        raise ValueError(
            f"keys of up to {LONGEST_BYPASSED} bits are not padded, and this one has {bits}:"
            " leave --padding out"
        )


def longest_message(padding: Padding | None, bits: int) -> int:
    """Bytes of the longest message; below 0 if the key is too short for the padding."""
    if padding is None:
        return (bits - 1) // 8
    return (bits + 7) // 8 - overhead(task_of(padding.schemes[0], False), frozenset())


def check_message(message: str, padding: Padding | None, bits: int) -> None:
    """Raise ValueError for a message that the key and the padding do not take."""
    check_padding(padding, bits)
    data = message.encode()
    if "\n" in message:
        raise ValueError("the message must be one line")
    if padding is not None:
        _ENCODINGS[padding].encode(data, bits)
    elif not 1 <= len(data) <= longest_message(None, bits):
        raise ValueError(
            f"the message has {len(data)} bytes; a key of {bits} bits without padding takes"
            f" 1..{longest_message(None, bits)}"
        )


def encode(message: str, padding: Padding | None, bits: int) -> int:
    """The number that is encrypted. Raises ValueError as `check_message`."""
    check_message(message, padding, bits)
    data = message.encode()
    return int.from_bytes(data if padding is None else _ENCODINGS[padding].encode(data, bits))


# --- The run ------------------------------------------------------------------------------------


def check_design(choice: Choice, key: SystemKey, padding: Padding | None) -> None:
    """Raise ValueError for an accelerator that does not work with this key."""
    capabilities = choice.design.capabilities
    if capabilities.fixed_modulus not in (None, key.n):
        raise ValueError(f"{choice.family.name} is made for another modulus than the key's")
    if key.bits > decryption.MAX_BITS:
        raise ValueError(
            f"the firmware takes keys of up to {decryption.MAX_BITS} bits, not {key.bits}"
        )
    if capabilities.private and not key.lengths.prime:
        raise ValueError(f"{choice.family.name} decrypts with primes, and this key has none")
    excess = key.lengths.excess(capabilities)
    if excess:
        raise ValueError(f"{choice.family.name} with these parameters takes {excess}")


def run_system(
    choice: Choice,
    key: SystemKey,
    message: str,
    *,
    decrypts: bool,
    padding: Padding | None,
    progress: Callable[[int], None] | None = None,
) -> EncryptionRun:
    """Let the firmware encrypt a message, or decrypt it after Python has encrypted it.

    Parameters
    ----------
    choice : the accelerator; one for a modulus must be made for the key's
    key : of up to 4096 bits
    message : one line, which fits key and padding
    padding : in hardware
    progress : called with clock cycles as they pass

    Raises ValueError for a key or a message out of range, ToolError if a tool is missing,
    DeviceError if the firmware does not come to its end.
    """
    check_design(choice, key, padding)
    number = encode(message, padding, key.bits)
    find_processor()
    toolchain = find_toolchain()
    program = build_firmware(toolchain, decryption.simulated_definitions(), PROGRAM)
    paddings = () if padding is None else (padding,)
    verilog = system_verilog(choice, paddings=paddings, divisor=DIVISOR)
    given = pow(number, key.e, key.n).to_bytes(key.size) if decrypts else message.encode()
    words = job(key, given, decrypts=decrypts, padding=padding)
    transcript, total = decryption.run_program(verilog, program, words, progress)
    found = _CIPHERTEXT.search(transcript)
    x = int.from_bytes(given) if decrypts else pow(int(found[1], 16), key.d, key.n) if found else 0
    predicted = predicted_cycles(choice.design, key, x, decrypts=decrypts)
    return EncryptionRun(
        *(choice, key, decrypts, padding, message),
        *(toolchain.version, transcript, total, predicted),
    )


def job(key: SystemKey, given: bytes, *, decrypts: bool, padding: Padding | None) -> list[int]:
    """Lay out `struct job` of the program: what to do, and the numbers."""
    scheme = Scheme.NONE if padding is None else padding.schemes[0]
    bits, e_bits = key.n.bit_length(), key.e.bit_length()
    primes: list[tuple[int, int]] = []
    p_bits = q_bits = 0
    if isinstance(key, keys.RsaPrivateKey):
        p_bits, q_bits = key.p.bit_length(), key.q.bit_length()
        primes += [(number, p_bits) for number in (key.p, key.dp, key.qinv)]
        primes += [(number, q_bits) for number in (key.q, key.dq)]
    secret = int.from_bytes(hashlib.sha256(key.d.to_bytes(key.size)).digest())
    words = [int(decrypts), scheme, bits, e_bits, p_bits, q_bits, len(given)]
    for value, length in (
        *((key.n, bits), (key.e, e_bits), (key.d, bits), *primes),
        *((secret, 8 * DIGEST_BYTES), (int.from_bytes(given), 8 * len(given))),
    ):
        words += words_of(value, length)
    return words


def predicted_cycles(design: Design, key: SystemKey, x: int, *, decrypts: bool) -> int:
    """Cycles of the engine for the operation on x, with the lengths that a driver loads."""
    capabilities = design.capabilities
    command = capabilities.started_by_status[decrypts]
    numbers, bits = {"x": x, **command.operation.encoding.of_key(key)}, None
    if decrypts and command not in capabilities.private:
        numbers["e"], bits = key.d, key.bits
    return decryption.predict_cycles(design, command, numbers, exponent_length=bits)
