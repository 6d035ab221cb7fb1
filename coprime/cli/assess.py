"""`coprime assess`: what an attacker could get out of a design, in simulation."""

import argparse
import sys
from dataclasses import replace
from itertools import islice

from coprime.assess import constant_time
from coprime.assess.campaign import Campaign, Outcome
from coprime.assess.faults import Fault, FaultKind
from coprime.assess.schedules import THEOREMS
from coprime.assess.schedules.symbols import ProofError
from coprime.assess.schedules.theorem import prove as prove_schedule
from coprime.assess.sequencer_proof import has_sequencer_proof, prove_sequencers
from coprime.assess.subject import ClusterSubject, Subject
from coprime.catalog import CLUSTER, MAX_BITS, ClusterChoice, choose, settings_for
from coprime.engine.contract import Command
from coprime.engine.design import EngineDesign
from coprime.parameters import Parameter
from coprime.runs.numbers import random_lengths

from .options import (
    FAILED,
    Parser,
    add_design,
    add_folder,
    add_json,
    add_verb,
    add_workers,
    chosen_settings,
    chosen_workers,
    counts,
)
from .output import check_folder, print_json, print_table, progress

SUMMARY = "Assess a design against faults and power analysis, in simulation."
_ALL = "all"
_LISTED = 20  # wrong results that are printed
_SHORTEST = 64  # max_bits of the engines whose sequencers are proved, unless it is set
_CORES = 2  # of a cluster, unless they are set: a fault has its effect on a chain of any length


def add_options(parser: Parser) -> None:
    """Add the verbs of `coprime assess` with their options."""
    verbs = parser.add_subparsers(required=True, metavar="VERB")
    text = "Run an operation with faults, one in each run."
    _add_faults_options(add_verb(verbs, "faults", _faults, text))
    text = "Test whether the power of an operation depends on its secrets."
    _add_leakage_options(add_verb(verbs, "leakage", _leakage, text))
    text = "Prove that no secret changes how long an engine works, or show that one does."
    _add_constant_time_options(add_verb(verbs, "constant-time", _constant_time, text))
    text = "Prove that a multiplier's schedule is its recurrence, for all operands."
    _add_schedule_options(add_verb(verbs, "schedule", _schedule, text))


# --- Faults -------------------------------------------------------------------------------------


def _add_faults_options(parser: Parser) -> None:
    add_design(parser)
    _add_operation(parser)
    text = (
        "what happens: one bit or two bits of a word flip, a component holds its values for a"
        " cycle, a step is skipped, a bit is stuck for some cycles (bit)"
    )
    parser.choice("--kind", [*FaultKind, _ALL], text, FaultKind.BIT)
    text = (
        "1: a key's first operation, after one with another key; 2: its second, which uses what the"
        " first has prepared (1 on curves, otherwise 2)"
    )
    parser.add_argument("--operation-number", type=int, choices=(1, 2), help=text)
    drawn = parser.add_mutually_exclusive_group()
    drawn.add_argument("--flips", type=int, default=1000, metavar="N", help="runs (1000)")
    drawn.add_argument("--at", metavar="FAULT", help="run one fault, as a campaign has named it")
    _add_execution(parser, "every run, their summary and a plot")


def _faults(options: argparse.Namespace) -> int:
    """Run a campaign; 1 if a wrong result came out of a design that checks its results."""
    if options.flips < 1:
        raise ValueError(f"--flips must be 1 or more, not {options.flips}")
    workers = chosen_workers(options)
    subject = replace(_subject(options), number=options.operation_number)
    if options.kind not in (*subject.kinds, _ALL):
        raise ValueError(
            f"{subject.name} has no program, of which a step could be skipped; choose"
            f" another --kind: {', '.join(subject.kinds)}"
        )
    if options.at is not None:
        return _one_fault(options, subject)
    if options.output is not None:
        check_folder("-o", options.output)
    # Arrow and Dask take a second to import: only who runs many faults waits for them.
    from coprime.assess.batches import run_batches, shares
    from coprime.assess.faults_summary import FaultSummary

    if options.output is not None:
        from coprime.assess.faults_files import write_files  # Vega takes a second to import
    kinds = [kind for kind in subject.kinds if options.kind in (kind, _ALL)]
    with progress(f"running {options.flips:,} faults", options.flips) as passed:
        runs = run_batches(subject, shares(kinds, options.flips), workers=workers, progress=passed)
    found = FaultSummary(subject, runs)
    if options.output is not None:
        for path in write_files(found, options.output):
            print(path, file=sys.stderr)
    if options.json:
        print_json(found.record())
    else:
        print(found.table())
        print(*found.bounds(), sep="\n")
        for wrong in islice(found.wrong_faults(), _LISTED):
            print(f"wrong{', reveals the key' if wrong['reveals'] else ''}: {wrong['command']}")
        if found.wrong > _LISTED:
            print(f"and {found.wrong - _LISTED:,} more wrong results: --json or -o lists them")
    return FAILED if subject.checked and found.wrong else 0


def _one_fault(options: argparse.Namespace, subject: Subject) -> int:
    fault = Fault.parse(options.at)
    with Campaign(subject) as campaign:
        campaign.targets.check(fault)
        run = campaign.run(fault)
    record = {
        "fault": str(fault),
        "outcome": run.outcome.value,
        "error": run.error.name,
        "step": run.step,
        "value": None if run.value is None else f"{run.value:x}",
        "reveals": run.reveals,
        "another_input": run.another_input,
    }
    if options.json:
        print_json(record)
    else:
        print_table(list(record.items()))
    return FAILED if subject.checked and run.outcome is Outcome.WRONG else 0


# --- Leakage ------------------------------------------------------------------------------------

_TESTS = ("message", "key", "exponent", "nonce", "nothing")
_MODELS = ("distance", "weight")
_SHOWN = 20  # findings in the table; JSON has all


def _add_leakage_options(parser: Parser) -> None:
    add_design(parser)
    _add_operation(parser)
    parser.number("--traces", "traces", 2000)
    text = "what is fixed in half of the traces and random in the others; nothing is a control"
    parser.choice("--test", _TESTS, f"{text} ({_TESTS[0]})", _TESTS[0])
    text = "trace the N-th operation after the key was loaded; those before it have other inputs"
    parser.number("--operation-number", text, 1)
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


def _span(text: str) -> tuple[int, int]:
    """A cycle and one after it, as in 100..200. ValueError for anything else."""
    first, dots, end = text.partition("..")
    if not dots or not first.isdecimal() or not end.isdecimal() or int(first) >= int(end):
        raise ValueError(f"cycles must be FIRST..END, as in 100..200, not {text}")
    return int(first), int(end)


def _leakage(options: argparse.Namespace) -> int:
    """Record traces, test them, and print what leaks."""
    # NumPy and Dask take a second to import: only who needs them waits for them.
    from coprime.assess.leakage import run_leakage
    from coprime.assess.power import PowerModel
    from coprime.assess.traces import Acquisition, LeakageTest, ProductWindows

    workers = chosen_workers(options)
    if options.keep < 0:
        raise ValueError(f"--keep must be 0 or more, not {options.keep}")
    if options.output is not None:
        check_folder("-o", options.output)
    if options.trs:
        if options.output is None or not options.keep:
            raise ValueError("--trs needs a folder for its traces, -o, and some to --keep")
        from coprime.assess.trs import check_trs

        check_trs()
    products = None
    if options.products is not None:
        component, *spans = options.products
        first, second = map(_span, spans)
        products = ProductWindows(component, first, second)
    subject = _subject(options)
    if isinstance(subject, ClusterSubject):
        raise ValueError(f"the power of a {CLUSTER} cannot be assessed: name its engine's family")
    acquisition = Acquisition(
        subject=subject,
        test=LeakageTest(options.test),
        model=PowerModel(options.model),
        noise=options.noise,
        cycles=None if options.cycles is None else _span(options.cycles),
        products=products,
        second_order=options.order != 1,
        operation_number=options.operation_number,
    )
    with progress(f"recording {options.traces:,} traces", options.traces) as passed:
        found = run_leakage(
            acquisition,
            options.traces,
            orders=(1, 2) if options.order is None else (options.order,),
            keep=options.keep if options.output is not None else 0,
            workers=workers,
            scheduler=options.scheduler,
            folder=options.output,
            progress=passed,
        )
    if options.output is not None:
        from coprime.assess.leakage_files import write_leakage

        write_leakage(found, options.output)
    if options.trs:
        from coprime.assess.trs import write_trs

        write_trs(found, options.output / "traces.trs")
    if options.json:
        print_json(found.record())
    else:
        print(found.table(_SHOWN))
    return 0


# --- Constant time --------------------------------------------------------------------------------


def _add_constant_time_options(parser: Parser) -> None:
    add_design(parser)
    parser.number("--seconds", "limit of the solver for each of its tries", 600)
    add_json(parser)


def _constant_time(options: argparse.Namespace) -> int:
    """Prove it, or fail with 1. Of a cluster the engine is examined."""
    if options.seconds < 1:
        raise ValueError(f"--seconds must be 1 or more, not {options.seconds}")
    choice = choose(options.family, chosen_settings(options))
    if has_sequencer_proof(choice.core):
        return _prove_sequencers(options)
    design = choice.core.design
    with progress(f"proving {options.family}"):
        proof = constant_time.prove(design, seconds=options.seconds)
    if options.json:
        print_json(
            {
                "family": options.family,
                "parameters": dict(choice.values),
                "declared": design.capabilities.constant_time,
                "proved": proof.holds,
                "cycle": proof.cycle,
                "same": list(proof.same),
                "may_differ": list(proof.other),
            }
        )
    elif proof.holds:
        print(f"proved: no secret changes how long {options.family} works")
    else:
        print(f"secrets change how long {options.family} works: first seen in cycle {proof.cycle}")
    return 0 if proof.holds else FAILED


def _prove_sequencers(options: argparse.Namespace) -> int:
    """The same where the sequencer is what is proved; of the shortest engine, unless it is set."""
    settings = {MAX_BITS: str(_SHORTEST), **chosen_settings(options)}
    choice = choose(options.family, settings)
    with progress(f"proving {options.family}"):
        proof = prove_sequencers(choice.core, seconds=options.seconds)
    if options.json:
        print_json(
            {
                "family": options.family,
                "parameters": dict(choice.values),
                "declared": choice.core.design.capabilities.constant_time,
                "proved": proof.holds,
                "sequencers": list(proof.sequencers),
                "ways": {name: sorted(come) for name, come in proof.ways.items()},
            }
        )
        return 0 if proof.holds else FAILED
    for name, come in proof.ways.items():
        print(f"{', '.join(sorted(come))} lead to the {name}")
    for lane, agrees in enumerate(proof.sequencers):
        if not agrees:
            print(f"secrets change what the sequencer of lane {lane} does")
    if proof.holds:
        size = f"{MAX_BITS}={choice.values[MAX_BITS]}"
        print(f"proved: no secret changes how long {options.family} with {size} works")
        print("(its sequencer does the same whatever the secrets, and nothing leads past it)")
    return 0 if proof.holds else FAILED


# --- Schedules ----------------------------------------------------------------------------------


def _add_schedule_options(parser: Parser) -> None:
    add_design(parser)
    text = "digits of the modulus, as in 3..64,90 (all that the design takes)"
    parser.add_argument("--digits", metavar="N..N,N", type=counts, help=text)
    add_json(parser)


def _schedule(options: argparse.Namespace) -> int:
    """Prove it, or fail with 1."""
    if options.family not in THEOREMS:
        known = ", ".join(THEOREMS)
        raise ValueError(f"{options.family} has no theorem of its schedule; there are: {known}")
    choice, kind = choose(options.family, chosen_settings(options)), THEOREMS[options.family]
    design = choice.core.design
    assert isinstance(design, EngineDesign), "families that have a theorem have lanes"
    lengths = kind.lengths(design)
    digits = list(lengths) if options.digits is None else options.digits
    for one in digits:
        if one not in lengths:
            limits = f"{lengths[0]}..{lengths[-1]}"
            raise ValueError(f"--digits must be in {limits} with these -p, not {one}")
    with progress(f"proving the schedule of {options.family}"):
        try:
            proof = prove_schedule(kind(design), digits)
        except ProofError as error:
            print(f"not proved, {error}")
            return FAILED
    if options.json:
        print_json(
            {
                "family": options.family,
                "parameters": dict(choice.values),
                "digits": digits,
                "cases": proof.cases,
                "cycles": proof.cycles,
                "registers": proof.registers,
                "free": proof.free,
                "seconds": round(proof.seconds, 1),
            }
        )
    else:
        print(
            f"proved for {len(digits)} lengths from {min(digits)} to {max(digits)} digits:"
            f" {options.family} computes {kind.statement}\n"
            f"{proof.cases} cases, {proof.cycles:,} cycles, {proof.seconds:.0f} s of a processor"
        )
    return 0


# --- Options of several verbs --------------------------------------------------------------------


def _add_operation(parser: Parser) -> None:
    """Add what is run: the operation, its length, and the seed of everything that is drawn."""
    text = "operation (RSA_PRIVATE where the family has it, otherwise MODEXP)"
    parser.choice("--operation", [one.name for one in Command if one.operation.computes], text)
    parser.number("--bits", "length of the modulus", 64)
    parser.number("--seed", "seed of key, input and draws", 1)


def _add_execution(parser: Parser, written: str) -> None:
    """Add how many processes run it, and in which forms the result is given."""
    add_workers(parser)
    text = f"write {written} into this folder"
    add_folder(parser, text)
    add_json(parser)


def _subject(options: argparse.Namespace) -> Subject:
    """The operation of these options; max_bits is their --bits, unless it is set."""
    settings = chosen_settings(options)
    if options.family == CLUSTER:
        settings.setdefault("cores", str(_CORES))
    if options.operation is not None:
        settings = settings_for(options.family, settings, Command[options.operation])
    choice = choose(options.family, settings)
    engine = choice.core
    own = engine.design.capabilities
    if options.operation is not None:
        command = Command[options.operation]
    else:
        command = own.private[0] if own.private else own.powers[0]
    if command not in own.required:
        known = ", ".join(one.name for one in sorted(own.required))
        raise ValueError(f"{engine.family.name} has no {command.name}; it has {known}")
    bits = own.fixed_modulus.bit_length() if own.fixed_modulus else options.bits
    lengths = random_lengths(command, bits)
    for parameter in engine.family.parameters:
        if isinstance(parameter, Parameter) and parameter.name == MAX_BITS:
            settings.setdefault(MAX_BITS, str(max(bits, parameter.minimum)))
    kind = ClusterSubject if isinstance(choice, ClusterChoice) else Subject
    return kind(choose(options.family, settings, lengths), command, bits, options.seed)
