"""The command line: parses, calls, prints."""

import argparse
import getpass
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from coprime import __version__
from coprime.bus.accelerator import Bus
from coprime.catalog import (
    CLUSTER,
    CLUSTER_PARAMETERS,
    FAMILIES,
    MODULUS,
    AnyParameter,
    Choice,
    ClusterChoice,
    choose,
    family_named,
)
from coprime.cells.target import Target
from coprime.device.accelerator import Accelerator, EngineError
from coprime.device.base import Device, DeviceError
from coprime.device.uio import UioDevice
from coprime.engine.contract import Command, Error
from coprime.explore import measure
from coprime.explore.cluster import run_cluster
from coprime.explore.commands import add_choose, add_sweep, run_choose, run_sweep
from coprime.explore.demo import demonstrate
from coprime.explore.explain import explain, tree_gates
from coprime.explore.report_command import add_report, run_report
from coprime.flow.board import BOARDS, board_named
from coprime.flow.ecp5 import DEFAULT_DEVICE, DEVICES
from coprime.flow.package import PARTS, write_package
from coprime.flow.tools import ToolError
from coprime.padding.scheme import Padding, parse_paddings
from coprime.rsa import keys, operations
from coprime.rsa.padding import (
    HASHES,
    DecryptionError,
    EncryptionPadding,
    Oaep,
    Pkcs1Encryption,
    Pkcs1Signature,
    Pss,
    SignaturePadding,
)
from coprime.soc import decryption
from coprime.soc.self_test import build_board

__all__ = ["main"]

BAD_INPUT, FAILED = 2, 1
_OWN_KEYS = {"name", "paper", "summary", "parameters"}
"""Of a record of `list`: what a cluster does not take over from the family of its cores."""

_EXPLAINS = "--explain is for compression, which is made for one modulus"
_MANY_GATES = 300_000
"""Unit gates of compressor trees that take more than half a minute."""

Key = TypeVar("Key")

_BAD_FILE = (
    *(FileExistsError, FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError),
)
_BAD_INPUT = (ValueError, keys.KeyFileError, EngineError, *_BAD_FILE)
_FAILED = (
    *(ToolError, DeviceError, DecryptionError, OSError),
    *(operations.InvalidSignatureError, operations.FaultError),
)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Say what is wrong in one line."""
        self.exit(BAD_INPUT, f"{self.prog}: {message}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; give its exit status: 0, 1 for failure, 2 for bad input."""
    options = _parser().parse_args(arguments)
    try:
        status = int(options.run(options) or 0)
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # whoever read the output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except _BAD_INPUT as error:
        busy = isinstance(error, EngineError) and error.code is Error.BUSY
        return _complain(error, FAILED if busy else BAD_INPUT)
    except _FAILED as error:
        return _complain(error, FAILED)
    except KeyboardInterrupt:
        return 130


def _complain(error: Exception, status: int) -> int:
    text = str(error)
    if isinstance(error, OSError) and error.strerror:
        text = f"{error.filename or 'output'}: {error.strerror}"
    print(f"coprime: {text}", file=sys.stderr)
    return status


# --- Parsing ------------------------------------------------------------------------------------


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="coprime", description="Generate, simulate and measure public-key coprocessors."
    )
    parser.add_argument("--version", action="version", version=f"coprime {__version__}")
    verbs = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    def verb(name: str, run: Callable[..., Any], text: str) -> argparse.ArgumentParser:
        added = verbs.add_parser(name, help=text, description=text)
        added.set_defaults(run=run)
        return added

    added = verb("list", _list, "List the families with parameters and operations.")
    added.add_argument("--json", action="store_true", help="as JSON")

    added = verb("build", _build, "Write an accelerator's Verilog and its C header.")
    _add_choice(added)
    _add_target(added, default="generic")
    _add_paddings(added)
    added.add_argument(
        "--bus",
        choices=[bus.value for bus in Bus],
        default=Bus.AXI4_LITE.value,
        help=f"of the accelerator ({Bus.AXI4_LITE.value})",
    )
    added.add_argument("-o", "--output", type=Path, required=True, metavar="DIR", help="folder")

    added = verb("run", _run, "Simulate one operation and compare it with Python's integers.")
    _add_choice(added)
    added.add_argument(
        "operation", choices=[command.name for command in Command if command is not Command.WIPE]
    )
    added.add_argument("--bits", type=int, help="length of random operands, or of a random key")
    for name, what in (
        ("x", "first factor, base or message"),
        ("y", "second factor"),
        ("e", "exponent"),
        ("m", "modulus"),
        ("input", "message of an RSA operation"),
    ):
        kind = _modulus if name == "m" else _hexadecimal
        added.add_argument(f"--{name}", type=kind, metavar="HEX", help=what)
    added.add_argument("--key", type=Path, metavar="FILE", help="RSA key, PEM or DER")
    _add_passphrase(added)
    added.add_argument("--seed", type=int, default=1, metavar="N", help="of random operands (1)")
    added.add_argument(
        "--requests", type=int, metavar="N", help="how many, for a cluster (one for each core)"
    )
    added.add_argument(
        "--explain",
        action="store_true",
        help="of a fixed modulus: what products are taken modulo, and why; alone with --m",
    )
    _add_paddings(added)
    added.add_argument("--trace", type=Path, metavar="FST", help="write waveforms")
    added.add_argument("--json", action="store_true", help="as JSON")

    added = verb("synth", _synth, "Map a design to a device and count what it uses.")
    _add_choice(added)
    _add_target(added)
    _add_paddings(added)
    added.add_argument(
        "--part",
        choices=PARTS,
        help="the engine alone (default), with its registers and AXI4-Lite slave (accelerator),"
        " one of its multipliers by itself, or, of one for a modulus, what reduces a word or the"
        " product of two",
    )
    added.add_argument("--route", action="store_true", help="place and route (ecp5)")
    added.add_argument(
        "--device", choices=list(DEVICES), help=f"to place and route on ({DEFAULT_DEVICE})"
    )
    added.add_argument(
        "--board", choices=list(BOARDS), help="write a bitstream with a self-test of the engine"
    )
    added.add_argument("-o", "--output", type=Path, metavar="DIR", help="folder for the bitstream")
    added.add_argument("--json", action="store_true", help="as JSON")

    add_sweep(verb("sweep", run_sweep, "Measure many points of the design space."))
    add_report(verb("report", run_report, "Write the report of what was measured."))
    add_choose(verb("choose", run_choose, "Find the best measured design under a budget."))

    _add_rsa(verb("rsa", _no_verb, "Keys, encryption and signatures on any device."))

    added = verb("soc", _soc, "Simulate a RISC-V system that decrypts on an accelerator.")
    _add_choice(added)
    source = added.add_mutually_exclusive_group(required=True)
    source.add_argument("--bits", type=int, metavar="N", help="length of a test key")
    source.add_argument("--key", type=Path, metavar="FILE", help="RSA key, PEM or DER")
    _add_passphrase(added)
    added.add_argument("--message", default=decryption.MESSAGE, help="what is encrypted for it")
    added.add_argument("--seed", type=int, default=1, metavar="N", help="of the test key (1)")
    added.add_argument(
        "--no-software", action="store_true", help="leave out the comparison with software"
    )
    added.add_argument("--json", action="store_true", help="as JSON")

    added = verb("demo", _demo, "Decrypt and sign with a real key on a generated accelerator.")
    added.add_argument("--key", type=Path, metavar="FILE", help="RSA key (default: a new one)")
    added.add_argument("--bits", type=int, default=2048, help="length of a new key (2048)")
    _add_passphrase(added)
    return parser


def _add_choice(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "family", metavar="FAMILY", help=f"one of: {', '.join([*FAMILIES, CLUSTER])}"
    )
    parser.add_argument(
        "-p",
        dest="parameters",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="set a parameter; `coprime list` tells them",
    )


def _add_target(parser: argparse.ArgumentParser, default: str | None = None) -> None:
    names = [target.value for target in Target if default or target is not Target.GENERIC]
    parser.add_argument("--target", choices=names, default=default, required=not default)


def _add_paddings(parser: argparse.ArgumentParser) -> None:
    known = ",".join(padding.value for padding in Padding)
    parser.add_argument(
        "--padding", default="none", metavar="LIST", help=f"in hardware: {known} or some (none)"
    )


def _paddings(options: argparse.Namespace) -> tuple[Padding, ...]:
    names = [name.strip() for name in options.padding.split(",")]
    return () if names == ["none"] else parse_paddings(names)


def _add_passphrase(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--passphrase-file", type=Path, metavar="FILE", help="first line: the key's passphrase"
    )


def _add_rsa(parser: argparse.ArgumentParser) -> None:
    verbs = parser.add_subparsers(required=True, metavar="VERB")

    def verb(name: str, run: Callable[..., Any], text: str) -> argparse.ArgumentParser:
        added = verbs.add_parser(name, help=text, description=text)
        added.set_defaults(run=run)
        return added

    added = verb("keygen", _keygen, "Make a key pair.")
    added.add_argument("--bits", type=int, default=2048, help="length of the modulus (2048)")
    added.add_argument("--exponent", type=int, default=65537, metavar="E", help="(65537)")
    added.add_argument("--p-bits", type=int, metavar="N", help="length of p, if not a half")
    added.add_argument("--seed", type=int, help="same key every time: for tests only")
    added.add_argument("-o", "--output", type=Path, required=True, metavar="FILE")
    added.add_argument("--public", type=Path, metavar="FILE", help="write the public key too")
    _add_passphrase(added)

    for name, run, text in (
        ("encrypt", _encrypt, "Encrypt a message with a public key."),
        ("decrypt", _decrypt, "Decrypt a ciphertext with a private key."),
        ("sign", _sign, "Sign a message with a private key."),
        ("verify", _verify, "Check a signature with a public key."),
    ):
        added = verb(name, run, text)
        added.add_argument("--key", type=Path, required=True, metavar="FILE", help="PEM or DER")
        _add_passphrase(added)
        added.add_argument("--in", dest="source", default="-", metavar="FILE", help="(- : stdin)")
        first = "oaep" if name in ("encrypt", "decrypt") else "pss"
        added.add_argument("--padding", choices=[first, "pkcs1"], default=first)
        added.add_argument("--hash", choices=list(HASHES), help="(sha256)")
        added.add_argument("--mgf-hash", choices=list(HASHES), help="(the same)")
        if first == "oaep":
            added.add_argument("--label", type=_hexadecimal_bytes, metavar="HEX")
        if name == "verify":
            added.add_argument("--signature", type=Path, required=True, metavar="FILE")
        else:
            added.add_argument("-o", "--output", default="-", metavar="FILE", help="(- : stdout)")
        added.add_argument(
            "--device",
            default="sim:fdfm",
            metavar="DEVICE",
            help="sim:FAMILY, or uio:/dev/uioN for hardware under Linux (sim:fdfm)",
        )


def _hexadecimal(text: str) -> int:
    try:
        value = int(text, 16)
    except ValueError:
        value = -1
    if value < 0:
        # The text may be a secret: it is not repeated.
        raise argparse.ArgumentTypeError("not a hexadecimal number")
    return value


def _modulus(text: str) -> int:
    try:
        return _hexadecimal(text)
    except argparse.ArgumentTypeError as error:
        message = f"{error}; what has a name or is decimal goes to -p {MODULUS}="
        raise argparse.ArgumentTypeError(message) from None


def _hexadecimal_bytes(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise argparse.ArgumentTypeError("not hexadecimal bytes") from None


def _settings(options: argparse.Namespace) -> dict[str, str]:
    settings: dict[str, str] = {}
    for text in options.parameters:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise ValueError(f"-p needs NAME=VALUE, not {text!r}")
        if name in settings:
            raise ValueError(f"-p sets {name} twice")
        settings[name] = value
    return settings


def _choice(options: argparse.Namespace) -> Choice | ClusterChoice:
    return choose(options.family, _settings(options))


def _announce(choice: Choice | ClusterChoice) -> None:
    """Tell beforehand where making the hardware takes minutes."""
    gates = tree_gates(choice.core if isinstance(choice, ClusterChoice) else choice)
    if gates > _MANY_GATES:
        print(
            f"coprime: making compressor trees of about {gates:,} unit gates, which takes minutes",
            file=sys.stderr,
        )


def _passphrase(options: argparse.Namespace) -> bytes | None:
    if options.passphrase_file is None:
        return None
    first, _, _ = options.passphrase_file.read_bytes().partition(b"\n")
    return bytes(first.removesuffix(b"\r"))


def _private_key(options: argparse.Namespace) -> keys.RsaPrivateKey:
    return _with_passphrase(keys.load_private, options)


def _public_key(options: argparse.Namespace) -> keys.RsaPublicKey:
    return _with_passphrase(keys.load_public, options)


def _with_passphrase(
    load: Callable[[Path, str | bytes | None], Key], options: argparse.Namespace
) -> Key:
    """Load a key; ask for its passphrase where it needs one and somebody is there to answer."""
    passphrase = _passphrase(options)
    try:
        return load(options.key, passphrase)
    except keys.PassphraseMissingError:
        if not sys.stdin.isatty():
            raise
        return load(options.key, getpass.getpass(f"passphrase of {options.key}: "))


# --- Printing -----------------------------------------------------------------------------------


def _print_json(value: object) -> None:
    print(json.dumps(value, indent=2))


def _print_table(rows: Sequence[tuple[str, object]]) -> None:
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        print(f"{name:<{width}}  {value}")


@contextmanager
def _progress(what: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """Show clock cycles as they pass, or parts of a total, on a terminal; nothing in a pipe."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task(what, total=total)
        yield lambda passed: bar.update(task, advance=passed)


# --- Commands -----------------------------------------------------------------------------------


def _no_verb(options: argparse.Namespace) -> NoReturn:
    raise ValueError("coprime rsa needs a verb")


def _parameter_record(parameter: AnyParameter) -> dict[str, object]:
    return {
        "name": parameter.name,
        **parameter.record,
        "default": parameter.default,
        "summary": parameter.summary,
    }


def _span(parameter: dict[str, Any]) -> str:
    """Which values a parameter may have."""
    if parameter["type"] == "int":
        return f"{parameter['minimum']}..{parameter['maximum']}"
    if parameter["type"] == "modulus":
        return "p-256, curve25519, ..."
    return ", ".join(parameter["choices"])


def _list(options: argparse.Namespace) -> None:
    records: list[dict[str, Any]] = [
        {
            "name": family.name,
            "paper": family.paper,
            "summary": family.summary,
            "parameters": [_parameter_record(parameter) for parameter in family.parameters],
            "operations": [command.name for command in sorted(own.required)],
            "constant_time": own.constant_time,
            "max_length": own.max_length,
            "max_prime_length": own.max_prime_length,
        }
        for family in FAMILIES.values()
        for own in [family.choose({}).design.capabilities]
    ]
    default = next(iter(FAMILIES))
    records.append(
        {
            "name": CLUSTER,
            "paper": "FDFM",
            "summary": "many engines on a chain of shift registers, behind one bus",
            "parameters": [
                {
                    "name": "engine",
                    "type": "family",
                    "choices": list(FAMILIES),
                    "default": default,
                    "summary": "family of the cores, whose parameters follow",
                },
                *(_parameter_record(parameter) for parameter in CLUSTER_PARAMETERS),
                *(_parameter_record(one) for one in FAMILIES[default].parameters),
            ],
            **{key: value for key, value in records[0].items() if key not in _OWN_KEYS},
        }
    )
    if options.json:
        _print_json(records)
        return
    for record in records:
        print(f"{record['name']}  ({record['paper'] or 'our own'}): {record['summary']}")
        for parameter in record["parameters"]:
            summary, value = parameter["summary"], parameter["default"]
            print(f"    -p {parameter['name']}=  {summary} ({_span(parameter)}, default {value})")
        print(f"    {', '.join(record['operations'])}")


def _build(options: argparse.Namespace) -> None:
    target, bus, choice = Target(options.target), Bus(options.bus), _choice(options)
    _announce(choice)
    for path in write_package(choice, target, options.output, bus, _paddings(options)):
        print(path)


def _run(options: argparse.Namespace) -> int:
    choice, command = _choice(options), Command[options.operation]
    if isinstance(choice, ClusterChoice):
        if options.explain:
            raise ValueError(_EXPLAINS)
        if _paddings(options):
            raise ValueError("a cluster has no padding in hardware")
        _announce(choice)
        return _run_cluster(options, choice, command)
    if options.requests is not None:
        raise ValueError("--requests is for a cluster")
    if MODULUS in choice.values:
        return _run_fixed(options, choice, command)
    if options.explain:
        raise ValueError(_EXPLAINS)
    return _run_one(options, choice, command, _operands(options, command, options.seed))


def _run_fixed(options: argparse.Namespace, choice: Choice, command: Command) -> int:
    """Run an operation on a family that is made for one modulus: for that of the operands, unless
    -p names it."""
    settings = _settings(options)
    modulus = None
    if MODULUS in settings:
        modulus = choice.design.capabilities.fixed_modulus
        if options.m not in (None, modulus):
            raise ValueError(
                f"-p {MODULUS}={settings[MODULUS]} is {modulus:x} in hexadecimal digits, and --m is"
                f" {options.m:x}: leave one of them out"
            )
        options.m = modulus if options.m is None and options.bits is None else options.m
    given = (options.x, options.y, options.e, options.key, options.input, options.bits)
    if options.explain and all(one is None for one in given):
        if options.m is None:
            raise ValueError(f"--explain needs the modulus: --m HEX, or -p {MODULUS}=")
        explained = explain(choice.family.choose(settings | {MODULUS: f"{options.m:#x}"}))
        if options.json:
            _print_json(explained.record())
        else:
            print(explained.text)
        return 0
    operands = _operands(options, command, options.seed, modulus)
    if modulus is None:
        own = operands.m if operands.key is None else operands.key.n
        choice = choice.family.choose(settings | {MODULUS: f"{own:#x}"})
    if options.explain:
        print(explain(choice).text, file=sys.stderr if options.json else sys.stdout)
    _announce(choice)
    return _run_one(options, choice, command, operands)


def _run_one(
    options: argparse.Namespace, choice: Choice, command: Command, operands: measure.Operands
) -> int:
    with _progress(f"{choice.family.name} {command.name}") as passed:
        run = measure.run_operation(
            choice,
            command,
            operands,
            trace=options.trace,
            progress=passed,
            paddings=_paddings(options),
        )
    if options.json:
        _print_json(run.record())
    else:
        _print_table(
            [
                ("result", f"{run.result:x}"),
                ("", "equal to Python's" if run.ok else "WRONG: Python's result is another"),
                ("cycles", f"{run.cycles:,}"),
                ("predicted", f"{run.predicted_cycles:,}"),
                ("utilization", f"{run.utilization:.1%} of the multipliers' cycles"),
                ("simulation", f"{run.cycles_per_second / 1e6:.1f} million cycles a second"),
            ]
        )
    return 0 if run.ok and run.cycles == run.predicted_cycles else FAILED


def _run_cluster(options: argparse.Namespace, choice: ClusterChoice, command: Command) -> int:
    count = choice.cores if options.requests is None else options.requests
    if count < 1:
        raise ValueError(f"--requests must be 1 or more, not {count}")
    seeds = range(options.seed, options.seed + count)
    modulus = choice.core.design.capabilities.fixed_modulus
    if options.bits is None:
        work = [_operands(options, command, options.seed, modulus)] * count
    else:
        work = [_operands(options, command, seed, modulus) for seed in seeds]
    with _progress(f"{CLUSTER} {command.name}", count) as passed:
        run = run_cluster(choice, command, work, trace=options.trace, progress=passed)
    if options.json:
        _print_json(run.record())
    else:
        _print_table(
            [
                ("requests", f"{run.requests:,} on {choice.cores:,} cores"),
                ("results", "all equal to Python's" if run.ok else "WRONG: Python has others"),
                ("cycles", f"{run.cycles:,}"),
                ("engines", f"{run.predicted_cycles:,} a core, which is {run.busy:.1%} of them"),
                ("utilization", f"{run.utilization:.1%} of the multipliers' cycles"),
                ("simulation", f"{run.cycles_per_second / 1e3:.1f} thousand cycles a second"),
            ]
        )
    return 0 if run.ok else FAILED


def _operands(
    options: argparse.Namespace, command: Command, seed: int, modulus: int | None = None
) -> measure.Operands:
    raw = {name: getattr(options, name) for name in ("x", "y", "e", "m")}
    given = [f"--{name}" for name, value in raw.items() if value is not None]
    rsa = command in (Command.RSA_PUBLIC, Command.RSA_PRIVATE)
    if options.key is not None or options.input is not None:
        if not rsa:
            raise ValueError(f"--key and --input are for RSA operations, not for {command.name}")
        if options.key is None or options.input is None or given or options.bits is not None:
            raise ValueError("an RSA operation takes --key and --input together, or --bits alone")
        load = _private_key if command is Command.RSA_PRIVATE else _public_key
        return measure.Operands(options.input, key=load(options))
    if options.bits is not None:
        if given:
            raise ValueError(f"--bits makes all operands; leave out {given[0]}, or --bits")
        return measure.random_operands(command, options.bits, seed, modulus=modulus)
    needed = {
        Command.MODMUL: ["x", "y", "m"],
        Command.MODEXP: ["x", "e", "m"],
        Command.RSA_PUBLIC: ["x", "e", "m"],
    }.get(command)
    if needed is None:
        raise ValueError("RSA_PRIVATE takes --key and --input, or --bits")
    missing = [f"--{name}" for name in needed if raw[name] is None]
    if missing:
        wanted = " ".join(f"--{name}" for name in needed)
        raise ValueError(f"{command.name} needs {wanted} (or --bits); {missing[0]} is missing")
    surplus = [name for name in given if name.removeprefix("--") not in needed]
    if surplus:
        raise ValueError(f"{command.name} takes no {surplus[0]}")
    return measure.Operands(**{name: raw[name] for name in needed})


def _synth(options: argparse.Namespace) -> None:
    choice = _choice(options)
    if options.board is not None:
        if isinstance(choice, ClusterChoice):
            raise ValueError("a board's self-test is for one engine: name its family")
        _synth_board(options, choice)
        return
    if options.output is not None:
        raise ValueError("-o is for the bitstream of a board: name one with --board")
    if options.device is not None and not options.route:
        raise ValueError("--device is what to place and route on: add --route")
    _announce(choice)
    with _progress(f"mapping {options.family}"):
        area = measure.measure_area(
            choice,
            Target(options.target),
            part=options.part,
            route=options.route,
            device=options.device or DEFAULT_DEVICE,
            paddings=_paddings(options),
        )
    if options.json:
        _print_json(area.record())
        return
    rows: list[tuple[str, object]] = [
        ("device", area.device),
        ("LUTs", f"{area.lut} ({area.lutram} of them as memory)"),
        ("flip-flops", area.ff),
        ("carry cells", area.carry),
        ("DSP", area.dsp),
        ("block RAM", f"{area.bram:g}"),
        ("slices", f"{area.slices_estimate} at the least"),
    ]
    if area.fmax_mhz is not None:
        rows += [("clock", f"{area.fmax_mhz:.1f} MHz"), ("critical path", area.critical_path)]
    _print_table([*rows, ("tools", ", ".join(f"{k} {v}" for k, v in area.tools.items()))])


def _synth_board(options: argparse.Namespace, choice: Choice) -> None:
    if options.device is not None:
        raise ValueError(f"the board {options.board} has its own device: leave --device out")
    if Target(options.target) is not Target.ECP5:
        raise ValueError(f"the board {options.board} has an ecp5, not {options.target}")
    if options.output is None:
        raise ValueError("--board needs -o DIR, the folder for the bitstream")
    if _paddings(options):
        raise ValueError("a board's self-test is of an engine, without padding")
    with _progress(f"placing {choice.family.name} on {options.board}"):
        result = build_board(choice, board_named(options.board), options.output)
    if options.json:
        _print_json(result.record())
    else:
        _print_table(list(result.record().items()))


def _soc(options: argparse.Namespace) -> int:
    choice = _choice(options)
    if isinstance(choice, ClusterChoice):
        raise ValueError("the system is for one engine: name its family")
    if options.key is None:
        key = keys.generate(options.bits, seed=options.seed)
    else:
        key = _private_key(options)
    ciphertext = decryption.encrypt(key, options.message)
    with _progress("simulating") as passed:
        run = decryption.run_system(
            choice, key, ciphertext, software=not options.no_software, progress=passed
        )
    if options.json:
        _print_json(run.record())
    else:
        print(run.transcript)
        print(run.table())
    ways = 1 if options.no_software else 2
    right = run.messages == [options.message] * ways
    return 0 if right and run.engine == run.predicted else FAILED


def _demo(options: argparse.Namespace) -> int:
    key = _private_key(options) if options.key else None
    with _progress("simulating") as passed:
        return 0 if demonstrate(key, options.bits, progress=passed) else FAILED


# --- RSA ----------------------------------------------------------------------------------------


def _keygen(options: argparse.Namespace) -> None:
    if options.public is not None and options.public.absolute() == options.output.absolute():
        raise ValueError("--public and -o must name two files")
    for path in (options.output, options.public):
        if path is not None and path.exists():
            raise ValueError(f"{path} exists, and a key is never overwritten")
    key = keys.generate(options.bits, options.exponent, p_bits=options.p_bits, seed=options.seed)
    if options.public is not None:
        _write_new(options.public, keys.public_pem(key.public), 0o644)
    _write_new(options.output, keys.private_pem(key, _passphrase(options)), 0o600)


def _write_new(path: Path, data: bytes, mode: int) -> None:
    """Write a file that must not exist yet."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.write(data)


@contextmanager
def _accelerator(options: argparse.Namespace) -> Iterator[Accelerator]:
    kind, colon, name = options.device.partition(":")
    device: Device
    if kind == "sim" and colon:
        simulated = measure.open_simulation(family_named(name).choose({}))
        with simulated as device, _progress("simulating") as passed:
            simulated.progress = passed
            yield Accelerator(device)
    elif kind == "uio" and colon:
        with UioDevice(name) as device:
            yield Accelerator(device)
    else:
        raise ValueError(f"a device is sim:FAMILY or uio:/dev/uioN, not {options.device!r}")


def _encryption_padding(options: argparse.Namespace) -> EncryptionPadding:
    if options.padding == "pkcs1":
        _refuse(options, "hash", "mgf_hash", "label")
        return Pkcs1Encryption()
    return Oaep(
        hash=options.hash or "sha256", mgf_hash=options.mgf_hash, label=options.label or b""
    )


def _signature_padding(options: argparse.Namespace) -> SignaturePadding:
    if options.padding == "pkcs1":
        _refuse(options, "mgf_hash")
        return Pkcs1Signature(hash=options.hash or "sha256")
    return Pss(hash=options.hash or "sha256", mgf_hash=options.mgf_hash)


def _refuse(options: argparse.Namespace, *names: str) -> None:
    """Refuse options that the padding has no use for."""
    for name in names:
        if getattr(options, name) is not None:
            raise ValueError(f"--padding pkcs1 takes no --{name.replace('_', '-')}")


def _input(options: argparse.Namespace) -> bytes:
    if options.source == "-":
        return sys.stdin.buffer.read()
    return Path(options.source).read_bytes()


def _output(options: argparse.Namespace, data: bytes, mode: int = 0o644) -> None:
    if options.output == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    with os.fdopen(os.open(options.output, flags, mode), "wb") as file:
        file.write(data)


def _encrypt(options: argparse.Namespace) -> None:
    padding = _encryption_padding(options)
    key, message = _public_key(options), _input(options)
    with _accelerator(options) as accelerator:
        data = operations.encrypt(accelerator, key, message, padding)
    _output(options, data)


def _decrypt(options: argparse.Namespace) -> None:
    padding = _encryption_padding(options)
    key, data = _private_key(options), _input(options)
    with _accelerator(options) as accelerator:
        message = operations.decrypt(accelerator, key, data, padding)
    _output(options, message, 0o600)  # like keys: for its owner alone


def _sign(options: argparse.Namespace) -> None:
    padding = _signature_padding(options)
    key, message = _private_key(options), _input(options)
    with _accelerator(options) as accelerator:
        signature = operations.sign(accelerator, key, message, padding)
    _output(options, signature)


def _verify(options: argparse.Namespace) -> None:
    padding = _signature_padding(options)
    key, message = _public_key(options), _input(options)
    signature = options.signature.read_bytes()
    with _accelerator(options) as accelerator:
        operations.verify(accelerator, key, message, signature, padding)
    print("the signature is valid", file=sys.stderr)
