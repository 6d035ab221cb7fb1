"""`coprime assess`: what an attacker could get out of a design, in simulation."""

import argparse
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from itertools import islice
from typing import TYPE_CHECKING

from coprime.catalog import CLUSTER, MAX_BITS, ClusterChoice, choose, settings_for
from coprime.cli.open_devices import open_noise
from coprime.cli.options import (
    FAILED,
    chosen_settings,
    chosen_workers,
)
from coprime.cli.output import check_file, check_folder, print_json, print_table
from coprime.cli.progress import progress
from coprime.engine.contract import Command
from coprime.engine.design import EngineDesign
from coprime.flow.files import naming, write_file
from coprime.parameters import Parameter
from coprime.random.seed_material import ENTROPY
from coprime.runs.numbers import random_lengths
from coprime_evidence.assess import constant_time
from coprime_evidence.assess.campaign import Campaign
from coprime_evidence.assess.faults import Fault
from coprime_evidence.assess.number_subject import ClusterSubject, NumberSubject
from coprime_evidence.assess.schedules import THEOREMS
from coprime_evidence.assess.schedules.symbols import ProofError
from coprime_evidence.assess.schedules.theorem import ScheduleProof
from coprime_evidence.assess.schedules.theorem import prove as prove_schedule
from coprime_evidence.assess.sequencer_proof import has_sequencer_proof, prove_sequencers
from coprime_evidence.assess.subject import Outcome, Subject

from .arguments.assess import ALL

if TYPE_CHECKING:
    from coprime_evidence.assess.traces import TraceSource

_LISTED = 20  # wrong results that are printed
_SHORTEST = 64  # max_bits of the engines whose sequencers are proved, unless it is set
_CORES = 2  # of a cluster, unless they are set: a fault has its effect on a chain of any length


# --- Faults -------------------------------------------------------------------------------------


def run_faults(options: argparse.Namespace) -> int:
    """Run a campaign; 1 if a wrong result came out of a design that checks its results.

    Raises ValueError for options that exclude each other or are out of range.
    """
    check_faults(options)
    return run_campaign(options, replace(_subject(options), number=options.operation_number))


def check_faults(options: argparse.Namespace) -> None:
    """Raise ValueError for numbers that are out of range."""
    if options.flips < 1:
        raise ValueError(f"--flips must be 1 or more, not {options.flips}")
    chosen_workers(options)


def run_campaign(options: argparse.Namespace, subject: Subject) -> int:
    """Run the faults of these options; 1 as `run_faults`.

    Raises ValueError for a kind of faults that the hardware cannot have.
    """
    if options.kind not in (*subject.kinds, ALL):
        raise ValueError(
            f"{subject.name} has no program, of which a step could be skipped; choose"
            f" another --kind: {', '.join(subject.kinds)}"
        )
    if options.at is not None:
        return _one_fault(options, subject)
    if options.output is not None:
        check_folder("-o", options.output)
    # Arrow and Dask take a second to import: only who runs many faults waits for them.
    from coprime_evidence.assess.batches import run_batches, shares
    from coprime_evidence.assess.faults_summary import FaultSummary

    if options.output is not None:
        from coprime_evidence.assess.faults_files import (
            write_files,  # Vega takes a second to import
        )
    kinds = [kind for kind in subject.kinds if options.kind in (kind, ALL)]
    batches, workers = shares(kinds, options.flips), chosen_workers(options)
    with progress(f"running {options.flips:,} faults", options.flips) as passed:
        runs = run_batches(subject, batches, workers=workers, progress=passed)
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
            what = ", reveals a secret" if wrong["reveals"] else ""
            print(f"wrong{what}: {wrong['command']}")
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
        "value": None if run.value is None else subject.text(run.value),
        **{name: getattr(run, name) for name in subject.classes},
    }
    if options.json:
        print_json(record)
    else:
        print_table(list(record.items()))
    return FAILED if subject.checked and run.outcome is Outcome.WRONG else 0


# --- Leakage ------------------------------------------------------------------------------------

_SHOWN = 20  # findings in the table; JSON has all


def _span(text: str) -> tuple[int, int]:
    """A cycle and one after it, as in 100..200. ValueError for anything else."""
    first, dots, end = text.partition("..")
    if not dots or not first.isdecimal() or not end.isdecimal() or int(first) >= int(end):
        raise ValueError(f"cycles must be FIRST..END, as in 100..200, not {text}")
    return int(first), int(end)


def run_leakage(options: argparse.Namespace) -> int:
    """Record traces, test them, and print what leaks.

    Raises ValueError for options that exclude each other or are out of range.
    """
    # NumPy and Dask take a second to import: only who needs them waits for them.
    from coprime_evidence.assess.number_traces import LeakageTest, NumberTraces

    subject = _subject(options)
    if isinstance(subject, ClusterSubject):
        raise ValueError(f"the power of a {CLUSTER} cannot be assessed: name its engine's family")
    test = LeakageTest(options.test)
    return record_leakage(options, NumberTraces(subject, test, options.operation_number))


def record_leakage(options: argparse.Namespace, source: "TraceSource") -> int:
    """As `run_leakage`, of any source of traces. Raises ValueError as it does."""
    from coprime_evidence.assess.leakage import run_leakage
    from coprime_evidence.assess.power import PowerModel
    from coprime_evidence.assess.traces import Acquisition, ProductWindows

    workers = chosen_workers(options)
    if options.keep < 0:
        raise ValueError(f"--keep must be 0 or more, not {options.keep}")
    if options.output is not None:
        check_folder("-o", options.output)
    if options.trs:
        if options.output is None or not options.keep:
            raise ValueError("--trs needs a folder for its traces, -o, and some to --keep")
        from coprime_evidence.assess.trs import check_trs

        check_trs()
    products = None
    if options.products is not None:
        component, *spans = options.products
        first, second = map(_span, spans)
        products = ProductWindows(component, first, second)
    acquisition = Acquisition(
        source=source,
        model=PowerModel(options.model),
        noise=options.noise,
        cycles=None if options.cycles is None else _span(options.cycles),
        products=products,
        second_order=options.order != 1,
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
        from coprime_evidence.assess.leakage_files import write_leakage

        write_leakage(found, options.output)
    if options.trs:
        from coprime_evidence.assess.trs import write_trs

        write_trs(found, options.output / "traces.trs")
    if options.json:
        print_json(found.record())
    else:
        print(found.table(_SHOWN))
    return 0


# --- Entropy -------------------------------------------------------------------------------------


def run_entropy(options: argparse.Namespace) -> int:
    """Print the estimates of SP 800-90B, and what they do not show; 1 if samples after restarts
    fail.

    Raises ValueError for a file of anything but samples, or of too few, and for options that
    exclude each other; OSError if it cannot be read; DeviceError for a device that gives none.
    """
    # NumPy takes its time to import.
    from coprime_evidence.assess.entropy.assessment import assess_entropy

    _check_entropy(options)
    if options.collect is not None:
        _collect_samples(options)
    with naming(str(options.file)):
        data = options.file.read_bytes()
    if options.restarts:
        return _run_restarts(options, data)
    with progress(f"estimating the entropy of {len(data):,} samples"):
        found = assess_entropy(data)
    if options.json:
        print_json(found.record())
    else:
        print_table([(name, f"{value:.6f}") for name, value in found.estimates.items()])
        print(f"at most {found.entropy:.6f} bits of min-entropy a sample. Not shown:")
        print(*(f"- {missing}" for missing in found.missing), sep="\n")
    return 0


def _check_entropy(options: argparse.Namespace) -> None:
    """Raise ValueError for options of one another, or out of range."""
    if options.samples is not None and (options.collect is None or options.restarts):
        raise ValueError("--samples is of --collect without --restarts, which takes 1,000,000")
    if options.samples is not None and options.samples < 1:
        raise ValueError(f"--samples must be 1 or more, not {options.samples}")
    if options.initial is not None and not options.restarts:
        raise ValueError("--initial is of samples after restarts: add --restarts")
    if options.collect is not None:
        check_file("FILE", options.file)


def _collect_samples(options: argparse.Namespace) -> None:
    """Collect the samples of a device into the file."""
    from coprime_evidence.assess.entropy.assessment import WANTED
    from coprime_evidence.assess.entropy.restarts import RESTARTS

    count = RESTARTS**2 if options.restarts else options.samples or WANTED
    with (
        open_noise(options.collect) as source,
        progress(f"collecting {count:,} samples", count) as passed,
    ):
        if options.restarts:
            data = source.restart_samples(RESTARTS, RESTARTS, passed)
        else:
            data = source.samples(count, passed)
    write_file(options.file, data)


def _run_restarts(options: argparse.Namespace, data: bytes) -> int:
    """Print what samples after restarts show; 1 if they fail."""
    from coprime_evidence.assess.entropy.restarts import assess_restarts

    initial = float(ENTROPY) if options.initial is None else options.initial
    with progress("estimating the entropy of samples after restarts"):
        found = assess_restarts(data, initial)
    if options.json:
        print_json(found.record())
        return 0 if found.is_valid else FAILED
    for name, each in (("rows", found.rows), ("columns", found.columns)):
        if found.is_sane:
            print_table(
                [(f"{name}: {estimator}", f"{value:.6f}") for estimator, value in each.items()]
            )
    verdict = "at most" if found.is_sane else "over"
    print(f"most of one value in a row or a column: {found.most}, {verdict} {found.cutoff}")
    if found.is_valid:
        print(f"passed: at most {found.entropy:.6f} bits of min-entropy a sample")
        return 0
    print(f"failed: these samples do not confirm {initial:g} bits of min-entropy a sample")
    return FAILED


# --- Constant time --------------------------------------------------------------------------------


def run_constant_time(options: argparse.Namespace) -> int:
    """Prove it, or fail with 1. Of a cluster the engine is examined.

    Raises ValueError for a limit below one second.
    """
    check_proof(options)
    choice = choose(options.family, chosen_settings(options))
    if has_sequencer_proof(choice.core):
        return _prove_sequencers(options)
    design = choice.core.design
    with progress(f"proving {options.family}"):
        proof = constant_time.prove(design, seconds=options.seconds)
    declared = design.capabilities.constant_time
    return print_proof(options, choice.values, declared=declared, proof=proof)


def check_proof(options: argparse.Namespace) -> None:
    """Raise ValueError for a limit below one second."""
    if options.seconds < 1:
        raise ValueError(f"--seconds must be 1 or more, not {options.seconds}")


def print_proof(
    options: argparse.Namespace,
    parameters: Mapping[str, object],
    *,
    declared: bool,
    proof: constant_time.TimingProof,
) -> int:
    """Print a proof, or what stands against it; the exit status."""
    if options.json:
        print_json(
            {
                "family": options.family,
                "parameters": dict(parameters),
                "declared": declared,
                "proved": proof.holds,
                "cycle": proof.cycle,
                "same": list(proof.same),
                "may_differ": list(proof.other),
                **({"way": list(proof.way)} if proof.way else {}),
            }
        )
    elif proof.holds:
        print(f"proved: no secret changes how long {options.family} works")
    elif proof.way:
        print(f"not proved: secrets lead to what can be seen, by way of {', '.join(proof.way)}")
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


def run_schedule(options: argparse.Namespace) -> int:
    """Prove it, or fail with 1.

    Raises ValueError for a family without a theorem, and for digits that the design does not take.
    """
    if options.family not in THEOREMS:
        known = ", ".join(THEOREMS)
        raise ValueError(f"{options.family} has no theorem of its schedule; there are: {known}")
    choice, kind = choose(options.family, chosen_settings(options)), THEOREMS[options.family]
    design = choice.core.design
    assert isinstance(design, EngineDesign), "families that have a theorem have lanes"
    lengths = kind.lengths(design)
    digits = list(lengths) if options.digits is None else options.digits
    for digit in digits:
        if digit not in lengths:
            limits = f"{lengths[0]}..{lengths[-1]}"
            raise ValueError(f"--digits must be in {limits} with these -p, not {digit}")
    proved = f"proved for {len(digits)} lengths from {min(digits)} to {max(digits)} digits"
    return show_schedule(
        options,
        lambda: prove_schedule(kind(design), digits),
        f"{proved}: {options.family} computes {kind.statement}",
        {"parameters": dict(choice.values), "digits": digits},
    )


def show_schedule(
    options: argparse.Namespace,
    prove: Callable[[], ScheduleProof],
    proved: str,
    settings: Mapping[str, object],
) -> int:
    """Prove a schedule and print that, or print why not; the exit status."""
    with progress(f"proving the schedule of {options.family}"):
        try:
            proof = prove()
        except ProofError as error:
            print(f"not proved, {error}")
            return FAILED
    if options.json:
        found = asdict(proof) | {"seconds": round(proof.seconds, 1)}
        print_json({"family": options.family, **settings, **found})
    else:
        print(
            f"{proved}\n"
            f"{proof.cases} cases, {proof.cycles:,} cycles, {proof.seconds:.0f} s of a processor"
        )
    return 0


# --- Options of several verbs --------------------------------------------------------------------


def _subject(options: argparse.Namespace) -> NumberSubject:
    """The operation of these options; max_bits is their --bits, unless it is set."""
    settings = chosen_settings(options)
    if options.family == CLUSTER:
        settings.setdefault("cores", str(_CORES))
    if options.operation is not None:
        settings = settings_for(options.family, settings, Command[options.operation])
    choice = choose(options.family, settings)
    engine = choice.core
    capabilities = engine.design.capabilities
    if options.operation is not None:
        command = Command[options.operation]
    else:
        command = capabilities.private[0] if capabilities.private else capabilities.powers[0]
    if command not in capabilities.required:
        known = ", ".join(possible.name for possible in sorted(capabilities.required))
        raise ValueError(f"{engine.family.name} has no {command.name}; it has {known}")
    bits = capabilities.fixed_modulus.bit_length() if capabilities.fixed_modulus else options.bits
    lengths = random_lengths(command, bits)
    for parameter in engine.family.parameters:
        if isinstance(parameter, Parameter) and parameter.name == MAX_BITS:
            settings.setdefault(MAX_BITS, str(max(bits, parameter.minimum)))
    kind = ClusterSubject if isinstance(choice, ClusterChoice) else NumberSubject
    return kind(choose(options.family, settings, lengths), command, bits, options.seed)
