"""Options that several commands share, and what their values mean."""

import argparse
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn, TypeVar

from coprime.bus.kinds import Bus
from coprime.catalog import (
    CALL_FAMILIES,
    CLUSTER,
    FAMILIES,
    MODULUS,
    SUITE,
    AnyDesign,
    CallChoice,
    Choice,
    ClusterChoice,
    SuiteChoice,
    check_settings,
    choose,
    choose_calls,
    choose_suite,
    settings_for,
    with_source,
)
from coprime.cells.target import Target
from coprime.errors import hint
from coprime.flow.files import naming
from coprime.padding.scheme import Padding, parse_paddings
from coprime.random.kinds import RandomSource, parse_source

if TYPE_CHECKING:
    from coprime.operations.commands import Command
    from coprime.operations.lengths import Lengths

BAD_INPUT, FAILED = 2, 1  # exit statuses other than 0
MAX_BOARD_MHZ = 1000
STANDARD = "-"
"""Names standard input or standard output in place of a file."""


_Added = TypeVar("_Added", bound=argparse.Action)
AnyChoice = TypeVar("AnyChoice", Choice, CallChoice, SuiteChoice, Choice | ClusterChoice)


class Parser(argparse.ArgumentParser):
    """Reports an error in one line, without the usage; its options' texts are sentences."""

    def _add_action(self, action: _Added) -> _Added:
        """Add an argument, also of a group, with its text as a sentence."""
        if action.help and action.help != argparse.SUPPRESS:
            action.help = sentence(action.help)
        return super()._add_action(action)

    def _check_value(self, action: argparse.Action, value: object) -> None:
        """Name the nearest choice, or all."""
        if action.choices is None or value in action.choices:
            return
        nearest = hint(str(value), map(str, action.choices))
        raise argparse.ArgumentError(action, f"there is no {value!r}; {nearest}")

    def error(self, message: str) -> NoReturn:
        """Exit with status 2 and one sentence on standard error."""
        self.exit(BAD_INPUT, f"{self.prog}: {message}\n")

    def flag(self, name: str, text: str) -> None:
        """Add an option without a value."""
        self.add_argument(name, action="store_true", help=text)

    def number(
        self,
        name: str,
        text: str,
        default: float | None = None,
        *,
        metavar: str | None = "N",
        kind: type[float] = int,
    ) -> None:
        """Add an option that is a number, whole by default; the help ends with its default."""
        shown = text if default is None else f"{text} (default: {default:.12g})"
        self.add_argument(name, type=kind, default=default, metavar=metavar, help=shown)

    def choice(
        self, name: str, choices: Iterable[str], text: str, default: str | None = None
    ) -> None:
        """Add an option that is one of some names; the text says which one is the default."""
        self.add_argument(name, choices=list(choices), default=default, help=text)

    def path(self, *names: str, metavar: str = "FILE", **settings: Any) -> None:
        """Add an option that names a file or a folder."""
        self.add_argument(*names, type=location, metavar=metavar, **settings)


_WORD = re.compile(r"[a-z]+(?=[ ,'.]|$)")
"""At the beginning of a sentence, but not of a name such as max_bits or sim:FAMILY."""


def sentence(text: str) -> str:
    """The text with a capital letter, unless it begins with a name, and a full stop."""
    begin = _WORD.match(text)
    if begin:
        text = text[0].upper() + text[1:]
    return text if text.endswith(".") else f"{text}."


# --- The design ---------------------------------------------------------------------------------


def add_design(parser: Parser, *, calls: bool = False, suites: bool = False) -> None:
    """Add FAMILY, with `calls` also those of engines of byte strings, with `suites` also a suite,
    and its `-p NAME=VALUE`.
    """
    names = [*FAMILIES, *(CALL_FAMILIES if calls else []), CLUSTER, *([SUITE] if suites else [])]
    text = f"one of: {', '.join(names)}"
    parser.add_argument("family", metavar="FAMILY", type=known_family, help=text)
    add_parameters(parser)


def add_parameters(parser: Parser) -> None:
    """Add `-p NAME=VALUE`."""
    parser.add_argument(
        "-p",
        dest="parameters",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="set a parameter; `coprime list` shows the parameters of each family. Where a command"
        " has operands or a key, max_bits follows them",
    )
    parser.set_defaults(check=check_design)


def check_design(options: argparse.Namespace) -> None:
    """Raise ValueError, before what the command does is imported, for a family or a parameter that
    does not exist.
    """
    check_settings(options.family, chosen_settings(options))


def parse_settings(texts: Iterable[str], option: str) -> dict[str, str]:
    """Read NAME=VALUE of each text. ValueError, which names `option`, if one is set twice or has no
    value.
    """
    settings: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise ValueError(f"{option} needs NAME=VALUE, not {text!r}")
        if name in settings:
            raise ValueError(f"{option} sets {name} twice")
        settings[name] = value
    return settings


def chosen_settings(options: argparse.Namespace) -> dict[str, str]:
    """The parameters set with -p. Raises as `parse_settings`."""
    return parse_settings(options.parameters, "-p")


def chosen_design(
    options: argparse.Namespace, lengths: "Lengths | None" = None, command: "Command | None" = None
) -> Choice | ClusterChoice:
    """The design that FAMILY and -p name, for numbers of these lengths and for a command.

    ValueError as `coprime.catalog.choose`, and as `with_source`.
    """
    settings = chosen_settings(options)
    if command is not None:
        settings = settings_for(options.family, settings, command)
    return _sourced(options, choose(options.family, settings, lengths))


def _sourced(options: argparse.Namespace, choice: AnyChoice) -> AnyChoice:
    """A design with the source of --random, if the command has that option."""
    source = getattr(options, "random", None)
    paddings = chosen_paddings(options) if source and hasattr(options, "padding") else ()
    return with_source(choice, source, paddings) if source else choice


def chosen_of_all(options: argparse.Namespace) -> AnyDesign:
    """The same for what takes suites, too."""
    if options.family == SUITE:
        return _sourced(options, choose_suite(chosen_settings(options)))
    return chosen_of_any(options)


def chosen_of_any(options: argparse.Namespace) -> Choice | CallChoice | ClusterChoice:
    """The same for what takes engines of byte strings, too."""
    if options.family in CALL_FAMILIES:
        return chosen_calls(options)
    return chosen_design(options)


def chosen_calls(options: argparse.Namespace) -> CallChoice:
    """The design of an engine of byte strings. ValueError as `coprime.catalog.choose_calls`, and
    as `with_source`.
    """
    choice = choose_calls(options.family, chosen_settings(options))
    return _sourced(options, choice)


def chosen_engine(options: argparse.Namespace, what: str) -> Choice:
    """The same for what takes one engine. ValueError for a cluster, too."""
    choice = chosen_design(options)
    if isinstance(choice, ClusterChoice):
        raise ValueError(f"{what} is for one engine: name its family")
    return choice


def add_random(parser: Parser) -> None:
    """Add --random, where random bytes come from."""
    parser.add_argument(
        "--random",
        type=_source,
        metavar="SOURCE",
        help="where random bytes come from, for designs that draw some: stream, from outside;"
        " seeded, a generator in the hardware that software seeds; trng, one that noise in the"
        " hardware seeds (stream)",
    )


def _source(text: str) -> RandomSource:
    try:
        return parse_source(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def add_target(parser: Parser, default: str | None = None, *, also: Sequence[str] = ()) -> None:
    """Add --target, with names that are no target `also`.

    Without a default it has an area, so it is not generic.
    """
    names = [target.value for target in Target if default or target is not Target.GENERIC]
    names += also
    shown = f"FPGA family ({default})" if default else "FPGA family (that of --board)"
    parser.choice("--target", names, shown, default)


def add_clock(parser: Parser, text: str) -> None:
    """Add --clock, the clock of a design on a board; the text ends with its default."""
    parser.number("--clock", text, metavar="MHZ", kind=float)


def chosen_clock(options: argparse.Namespace) -> Fraction | None:
    """The value of --clock in MHz, exactly as it is written. ValueError if it is out of range."""
    if options.clock is None:
        return None
    if not 0 < options.clock <= MAX_BOARD_MHZ:
        raise ValueError(
            f"--clock must be over 0 and at most {MAX_BOARD_MHZ} MHz, not {options.clock:g}"
        )
    return Fraction(str(options.clock))


def add_paddings(parser: Parser) -> None:
    """Add --padding, the paddings of the accelerator's padding unit."""
    known = ",".join(padding.value for padding in Padding)
    parser.add_argument(
        "--padding",
        default="none",
        metavar="LIST",
        help=f"paddings in hardware: any of {known} (none)",
    )


def chosen_paddings(options: argparse.Namespace) -> tuple[Padding, ...]:
    """The paddings of --padding. ValueError for an unknown one."""
    names = [name.strip() for name in options.padding.split(",")]
    return () if names == ["none"] else parse_paddings(names)


def add_bus(parser: Parser) -> None:
    """Add --bus, the bus of the accelerator or the cluster."""
    default = Bus.AXI4_LITE.value
    parser.choice(
        "--bus", [bus.value for bus in Bus], f"bus of the accelerator ({default})", default
    )


def add_input(parser: Parser) -> None:
    """Add --in, which `read_input` reads."""
    parser.path("--in", dest="source", default=STANDARD, help="input (-: standard input)")


@contextmanager
def open_input(options: argparse.Namespace) -> Iterator[BinaryIO]:
    """The file of --in. Raises OSError if it cannot be read."""
    if str(options.source) == STANDARD:
        yield sys.stdin.buffer
    else:
        with naming(str(options.source)), options.source.open("rb") as file:
            yield file


def read_input(options: argparse.Namespace) -> bytes:
    """The bytes of --in. Raises OSError if it cannot be read."""
    with open_input(options) as file:
        return file.read()


def add_output(parser: Parser) -> None:
    """Add -o, by default standard output."""
    parser.add_argument(
        *("-o", "--output"), default="-", metavar="FILE", help="output (-: standard output)"
    )


def add_folder(parser: Parser, text: str, **settings: Any) -> None:
    """Add -o, a folder, which is made if it is not there."""
    text = f"{text}, made if it is not there"
    parser.path("-o", "--output", metavar="DIR", help=text, **settings)


def add_json(parser: Parser) -> None:
    """Add --json."""
    parser.flag("--json", "print JSON")


def add_verb(verbs: "argparse._SubParsersAction[Parser]", name: str, text: str) -> Parser:
    """Add a verb of a command, and give its parser. The command's file has its function."""
    added = verbs.add_parser(name, help=text, description=text)
    added.set_defaults(verb=name)
    return added


def add_workers(parser: argparse._ActionsContainer) -> None:
    """Add --workers, which `chosen_workers` reads."""
    parser.add_argument(
        "--workers", type=int, metavar="N", help="processes on this machine (one for each core)"
    )


def chosen_workers(options: argparse.Namespace) -> int | None:
    """Give how many processes there shall be; None: one for each core.

    Raises ValueError for fewer than 1.
    """
    workers: int | None = options.workers
    if workers is not None and workers < 1:
        raise ValueError(f"--workers must be 1 or more, not {workers}")
    return workers


# --- Results ------------------------------------------------------------------------------------


def add_results(parser: Parser) -> None:
    """Add --results, which `chosen_points` reads."""
    text = "results of a sweep, .parquet or .csv (the measurements that come with Coprime)"
    parser.path("--results", help=text)


# --- Keys ---------------------------------------------------------------------------------------


def add_key(parser: Parser, text: str = "RSA key, PEM or DER", *, required: bool = False) -> None:
    """Add --key."""
    parser.path("--key", required=required, help=f"{text} (-: standard input)")


def add_passphrase(parser: Parser) -> None:
    """Add --passphrase-file."""
    parser.path("--passphrase-file", help="file whose first line is the key's passphrase")


def add_modulus_key(parser: Parser) -> None:
    """Add --key, whose modulus `take_modulus` makes the design's."""
    families = " or ".join(families_for_one_modulus())
    text = f"private or public RSA key, PEM or DER, for whose modulus {families} is made"
    add_key(parser, text)
    add_passphrase(parser)


def families_for_one_modulus() -> list[str]:
    """The families that are made for one modulus."""
    return [
        name
        for name, family in FAMILIES.items()
        if any(parameter.name == MODULUS for parameter in family.parameters)
    ]


# --- Types of values ----------------------------------------------------------------------------


def location(text: str) -> Path:
    """The name of a file or a folder, which an empty text is not.

    Raises ArgumentTypeError for an empty text.
    """
    if not text:
        raise argparse.ArgumentTypeError("the name is empty")
    return Path(text)


def counts(text: str) -> list[int]:
    """Numbers from 1 on, and ranges of them with both ends: 3..64,90.

    Raises ArgumentTypeError for another text.
    """
    found: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("..")
        if not (first.isdecimal() and (last or first).isdecimal()):
            raise argparse.ArgumentTypeError(f"not numbers or ranges, as in 3..64,90: {text!r}")
        found += range(int(first), int(last or first) + 1)
    if not found:
        raise argparse.ArgumentTypeError(f"{text!r} has no numbers")
    return found


def hexadecimal(text: str) -> int:
    """A number of 0 or more in hexadecimal, with or without 0x.

    Raises ArgumentTypeError for another text.
    """
    try:
        value = int(text, 16)
    except ValueError:
        value = -1
    if value < 0:
        # The text may be a secret: it is not repeated.
        raise argparse.ArgumentTypeError("not a hexadecimal number")
    return value


def known_family(text: str) -> str:
    """The name of a family. Raises ArgumentTypeError, with the nearest one, if there is none."""
    try:
        check_settings(text, {})
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def modulus(text: str) -> int:
    """A modulus in hexadecimal; the error names the parameter that takes names and decimals.

    Raises ArgumentTypeError for another text.
    """
    try:
        return hexadecimal(text)
    except argparse.ArgumentTypeError as error:
        message = f"{error}; a name or a decimal goes to -p {MODULUS}="
        raise argparse.ArgumentTypeError(message) from None


def hexadecimal_bytes(text: str) -> bytes:
    """Bytes as pairs of hexadecimal digits. Raises ArgumentTypeError for another text."""
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise argparse.ArgumentTypeError("not hexadecimal bytes") from None
