"""The thesis's system in firmware: cycles of whole encryptions and decryptions."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from coprime_evidence.papers.compression import CM, CM_PSEUDO, MM, printed

from coprime.catalog import Choice, choose
from coprime.model.moduli import vassoler_pair
from coprime.rsa.fixed_keys import key_of
from coprime.soc.encryption import (
    EncryptionRun,
    SystemKey,
    default_padding,
    longest_message,
    run_system,
    test_key,
)

from .page import replace_part, table, thousands

PAGE = "results.md"
MESSAGE = "Hello"
_PUBLISHED = {CM: 0, CM_PSEUDO: 1, MM: 2}
"""Columns of the thesis's Tables 10, 11, 16 and 17."""


@dataclass(frozen=True)
class System:
    """A circuit of the thesis in a system.

    Parameters
    ----------
    name : as the page calls it
    command : `coprime soc` for it, without the operation
    choice, key
    test : of the thesis, half of the bits that it gives the key
    circuit : the column of its tables; None: it has no times of this one
    """

    name: str
    command: str
    choice: Choice
    key: SystemKey
    test: int
    circuit: str | None

    @classmethod
    def of_key(cls, family: str, bits: int, circuit: str | None, **settings: str) -> "System":
        """For a test key."""
        key = test_key(bits)
        own = {"max_bits": str(max(64, bits))} if family == "montgomery-r2" else {}
        shown = "".join(f" -p {one}={value}" for one, value in {**own, **settings}.items())
        modulus = {} if own else {"modulus": f"{key.n:#x}"}
        choice = choose(family, {**own, **modulus, **settings})
        assert isinstance(choice, Choice)
        command = f"coprime soc {family}{shown} --bits {bits}"
        return cls(f"{family}, a key of {bits} bits", command, choice, key, bits // 2, circuit)

    @classmethod
    def of_modulus(cls, n: int, **settings: str) -> "System":
        """For a modulus of the thesis."""
        name = f"vassoler-{n}"
        shown = "".join(f" -p {one}={value}" for one, value in settings.items())
        key, test = key_of(vassoler_pair(n)[0]), (n + 2) // 2
        choice = choose("compression", {"modulus": f"{key.n:#x}", **settings})
        assert isinstance(choice, Choice)
        command = f"coprime soc compression -p modulus={name}{shown}"
        return cls(f"compression, {name}", command, choice, key, test, CM_PSEUDO)


_ONE = {"multipliers": "1"}


def systems() -> Sequence[System]:
    """All that the page has, by circuit and length."""
    return (
        *(System.of_modulus(n) for n in (30, 62, 126)),
        *(System.of_modulus(n, **_ONE) for n in (30, 62, 126, 254)),
        *(System.of_key("compression", bits, CM) for bits in (32, 64)),
        System.of_key("compression", 128, CM, **_ONE),
        *(System.of_key("direct", bits, None) for bits in (32, 64, 128)),
        *(System.of_key("montgomery-r2", bits, MM) for bits in (32, 64, 128, 256, 512, 1024)),
    )


def measure() -> str:
    """Write the part of the page."""
    rows, commands = [], []
    for system in systems():
        padding = default_padding(system.key.bits)
        message = MESSAGE[: longest_message(padding, system.key.bits)]
        for decrypts in (False, True):
            run = run_system(system.choice, system.key, message, decrypts=decrypts, padding=padding)
            assert run.right
            assert run.interrupts == 1
            rows.append(_row(system, run))
            print(rows[-1], file=sys.stderr, flush=True)
        commands.append(f"    {system.command} --operation decrypt --message {message}\n")
    head = ["circuit", "multipliers", "", "input, start", "padding, conversion, interrupt"]
    head += ["engine", "output", "all", "the thesis's time"]
    text = f"{table(head, rows)}\n{''.join(commands)}"
    replace_part(PAGE, "encryption", text.replace("|---:|", "|---|", 1))
    return ""


def _row(system: System, run: EncryptionRun) -> tuple[str, ...]:
    of, multipliers = run.cycles, run.choice.design.capabilities.multipliers
    beside = of["waiting"] - of["engine"]
    counts = (of["input in, start"], beside, of["engine"], of["result out"], of["operation"])
    return (
        *(system.name, str(multipliers), "decrypt" if run.decrypts else "encrypt"),
        *map(thousands, counts),
        _published(system, multipliers, decrypts=run.decrypts),
    )


def _published(system: System, multipliers: int, *, decrypts: bool) -> str:
    """The time in Table 10 or 11, or in 16 or 17 with one multiplier."""
    if system.circuit is None:
        return ""
    numbers = ("Table 10", "Table 11") if multipliers == 2 else ("Table 16", "Table 17")
    return printed(numbers[decrypts])[system.test][_PUBLISHED[system.circuit]]


if __name__ == "__main__":
    measure()
