"""Options of `coprime run`."""

from collections.abc import Sequence

from coprime.catalog import CALL_FAMILIES
from coprime.flow.part_names import ALONE
from coprime.operations.commands import Command
from coprime.runs.exponents import EXPONENTS

from ..options import (
    Parser,
    add_design,
    add_json,
    add_key,
    add_paddings,
    add_passphrase,
    add_random,
    hexadecimal,
    modulus,
)

MODULUS_OPTION = "m"  # the option that is a modulus, which may be an expression


def add_options(parser: Parser) -> None:
    """Add the options of `coprime run`."""
    add_design(parser)
    other = next(iter(CALL_FAMILIES))
    parser.epilog = f"Engines of byte strings have other options: coprime run {other} --help"
    parser.add_argument(
        "operation",
        metavar="OPERATION",
        choices=(
            names := [
                *(command.name for command in Command if command.operation.computes),
                *ALONE.values(),
            ]
        ),
        help=f"one of: {', '.join(names)}",
    )
    parser.number("--bits", "bits of random operands, or of a random key", metavar=None)
    for name, text in (raw_inputs() | {"input": "message of an RSA operation"}).items():
        kind = modulus if name == MODULUS_OPTION else hexadecimal
        parser.add_argument(f"--{name}", type=kind, metavar="HEX", help=text)
    parser.add_argument(
        "--curve",
        metavar="NAME",
        help="curve of the operation, such as P-256; numbers that are not given are random",
    )
    add_key(parser)
    add_passphrase(parser)
    parser.number("--seed", "seed of random operands", 1)
    text = "secret exponents that --bits makes: worst, of ones only, or random (default: random)"
    parser.choice("--exponents", EXPONENTS, text)
    parser.number(
        "--requests", "number of operations that a cluster runs (default: one for each core)"
    )
    parser.flag(
        "--explain",
        "print, for a fixed modulus, by which multiple products are reduced, and why; for -p dsp=,"
        " the designs within the budget. Without operands, or with --m alone, nothing is simulated",
    )
    add_paddings(parser)
    add_random(parser)
    parser.path("--trace", metavar="FST", help="file to write waveforms to")
    add_json(parser)


def raw_inputs() -> dict[str, str]:
    """Options that give an input of an operation, with what it is of which; the modulus is last."""
    meanings: dict[str, dict[str, list[Command]]] = {}
    for command in Command:
        for number in command.operation.given:
            meanings.setdefault(number.name, {}).setdefault(number.meaning, []).append(command)
    meanings[MODULUS_OPTION] = meanings.pop(MODULUS_OPTION)
    return {
        name: "; ".join(f"for {_names(each)}, the {meaning}" for meaning, each in by.items())
        for name, by in meanings.items()
    }


def _names(commands: Sequence[Command]) -> str:
    """The operations in a sentence; all on one form of curves by that form."""
    names: list[str] = []
    rest = list(commands)
    for form in ("weierstrass", "edwards"):
        every = [command for command in Command if command.operation.setting == ("curves", form)]
        if set(every) <= set(rest):
            names.append(f"curves={form}")
            rest = [command for command in rest if command not in every]
    names = [*(command.name for command in rest), *names]
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
