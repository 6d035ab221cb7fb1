"""Options of `coprime assess`."""

from coprime.catalog import CALL_FAMILIES
from coprime.cli.devices import add_noise_device
from coprime.cli.options import (
    Parser,
    add_design,
    add_folder,
    add_json,
    add_verb,
    add_workers,
    counts,
    location,
)
from coprime.operations.commands import Command
from coprime.random.seed_material import ENTROPY
from coprime_evidence.assess.fault_kinds import FaultKind

ALL = "all"
_TESTS = ("message", "key", "exponent", "nonce", "nothing")
_MODELS = ("distance", "weight")


def add_options(parser: Parser) -> None:
    """Add the verbs of `coprime assess` with their options."""
    verbs = parser.add_subparsers(required=True, metavar="VERB")
    text = "Run an operation with faults, one in each run."
    _add_faults_options(add_verb(verbs, "faults", text))
    text = "Test whether the power of an operation depends on its secrets."
    _add_leakage_options(add_verb(verbs, "leakage", text))
    text = "Prove that no secret changes how long an engine works, or show that one does."
    _add_constant_time_options(add_verb(verbs, "constant-time", text))
    text = "Prove that a multiplier's schedule is its recurrence, for all operands."
    _add_schedule_options(add_verb(verbs, "schedule", text))
    text = "Estimate the min-entropy of raw samples of a noise source, as SP 800-90B does."
    _add_entropy_options(add_verb(verbs, "entropy", text))


def _add_faults_options(parser: Parser) -> None:
    add_design(parser)
    other = next(iter(CALL_FAMILIES))
    parser.epilog = (
        f"Engines of byte strings have other options: coprime assess faults {other} --help"
    )
    _add_operation(parser)
    text = (
        "1: a key's first operation, after one with another key; 2: its second, which uses what the"
        " first has prepared (1 on curves, otherwise 2)"
    )
    parser.add_argument("--operation-number", type=int, choices=(1, 2), help=text)
    add_faults(parser)


def add_faults(parser: Parser) -> None:
    """Add which faults are drawn, and how they are run."""
    text = (
        "what happens: one bit or two bits of a word flip, a component holds its values for a"
        " cycle, a step is skipped, a bit is stuck for some cycles (bit)"
    )
    parser.choice("--kind", [*FaultKind, ALL], text, FaultKind.BIT)
    drawn = parser.add_mutually_exclusive_group()
    drawn.add_argument("--flips", type=int, default=1000, metavar="N", help="runs (1000)")
    drawn.add_argument("--at", metavar="FAULT", help="run one fault, as a campaign has named it")
    _add_execution(parser, "every run, their summary and a plot")


def _add_leakage_options(parser: Parser) -> None:
    add_design(parser)
    _add_operation(parser)
    text = "what is fixed in half of the traces and random in the others; nothing is a control"
    parser.choice("--test", _TESTS, f"{text} ({_TESTS[0]})", _TESTS[0])
    text = "trace the N-th operation after the key was loaded; those before it have other inputs"
    parser.number("--operation-number", text, 1)
    add_traces(parser)


def add_traces(parser: Parser) -> None:
    """Add how many traces are recorded, how they are tested, and what is kept of them."""
    parser.number("--traces", "traces", 2000)
    text = f"bits of registers that change, or that are 1 ({_MODELS[0]})"
    parser.choice("--model", _MODELS, text, _MODELS[0])
    parser.add_argument(
        "--order", type=int, choices=(1, 2), help="t-test of one order only (both orders)"
    )
    text = "standard deviation of noise that is added to each sample, in bits"
    parser.number("--noise", text, 0.0, metavar="SIGMA", kind=float)
    text = "test part of the cycles, the last one excluded, as in 1000..2000 (all)"
    parser.add_argument("--cycles", metavar="FIRST..END", help=text)
    parser.add_argument(
        "--products",
        nargs=3,
        metavar=("COMPONENT", "FIRST..END", "FIRST..END"),
        help="test centred products of a component's samples in these cycles, too",
    )
    parser.number("--keep", "traces that -o writes", 1000)
    text = "also write them as traces.trs, Riscure's format (with -o)"
    parser.add_argument("--trs", action="store_true", help=text)
    where = parser.add_mutually_exclusive_group()
    add_workers(where)
    where.add_argument("--scheduler", metavar="ADDRESS", help="use an existing Dask cluster")
    text = "write t-values, traces and plots into this folder, and resume a campaign there"
    add_folder(parser, text)
    add_json(parser)


def _add_constant_time_options(parser: Parser) -> None:
    add_design(parser)
    add_proof(parser)


def add_proof(parser: Parser) -> None:
    """Add the limit of a proof of constant time, and its form."""
    parser.number("--seconds", "limit of the solver for each of its tries", 600)
    add_json(parser)


def _add_schedule_options(parser: Parser) -> None:
    add_design(parser)
    text = "digits of the modulus, as in 3..64,90 (all that the design takes)"
    parser.add_argument("--digits", metavar="N..N,N", type=counts, help=text)
    add_json(parser)


def _add_entropy_options(parser: Parser) -> None:
    text = "raw samples in the order in which they came, a byte of 0 or 1 each"
    parser.add_argument("file", type=location, metavar="FILE", help=text)
    add_noise_device(parser, "--collect", "collect the samples from this device into FILE first")
    parser.number("--samples", "samples to collect, with --collect (1,000,000)")
    text = "they are 1,000 samples after each of 1,000 restarts of the noise source (section 3.1.4)"
    parser.flag("--restarts", text)
    text = "bits of min-entropy of a sample by samples of one run, with --restarts"
    text += f" ({float(ENTROPY):g}, which --random trng assumes)"
    parser.number("--initial", text, metavar="BITS", kind=float)
    add_json(parser)


def _add_operation(parser: Parser) -> None:
    """Add what is run: the operation, its length, and the seed of everything that is drawn."""
    text = "operation (RSA_PRIVATE where the family has it, otherwise MODEXP)"
    parser.choice(
        "--operation", [command.name for command in Command if command.operation.computes], text
    )
    parser.number("--bits", "length of the modulus", 64)
    parser.number("--seed", "seed of key, input and draws", 1)


def _add_execution(parser: Parser, written: str) -> None:
    """Add how many processes run it, and in which forms the result is given."""
    add_workers(parser)
    text = f"write {written} into this folder"
    add_folder(parser, text)
    add_json(parser)
