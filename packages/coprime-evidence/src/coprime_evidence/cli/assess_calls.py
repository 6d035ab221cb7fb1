"""`coprime assess` for engines of byte strings."""

import argparse

from coprime.catalog import choose_calls
from coprime.cli.options import chosen_settings
from coprime.cli.progress import progress
from coprime.lattice.design import LatticeDesign
from coprime.shake.design import ShakeDesign
from coprime_evidence.assess.call_subject import CallSubject
from coprime_evidence.assess.call_timing import prove_calls
from coprime_evidence.assess.schedules import THEOREMS
from coprime_evidence.assess.schedules.lattice import FAMILY, prove, statement

from .assess import (
    check_faults,
    check_proof,
    print_proof,
    record_leakage,
    run_campaign,
    show_schedule,
)


def run_faults(options: argparse.Namespace) -> int:
    """Run a campaign; 1 if a wrong result came out of a call that checks its outputs.

    Raises ValueError for options that exclude each other or are out of range.
    """
    check_faults(options)
    return run_campaign(options, _subject(options))


def run_leakage(options: argparse.Namespace) -> int:
    """Record traces, test them, and print what leaks.

    Raises ValueError for options that exclude each other or are out of range.
    """
    # NumPy and Dask take a second to import: only who needs them waits for them.
    from coprime_evidence.assess.call_traces import CallTraces

    subject = _subject(options)
    if isinstance(subject.design, ShakeDesign):
        # A stream enters while the call runs: what can be assessed is the sponge.
        from coprime_evidence.assess.sponge_traces import MESSAGE, SpongeTraces

        test = options.test or MESSAGE
        traces = SpongeTraces(subject.choice, subject.operation, options.seed, test)
        return record_leakage(options, traces)
    tests = list(subject.call.redraws)
    return record_leakage(options, CallTraces(subject, options.test or (tests or [""])[0]))


def _subject(options: argparse.Namespace) -> CallSubject:
    choice = choose_calls(options.family, chosen_settings(options))
    interface = choice.design.interface
    operation = options.operation or interface.calls[0].name
    parameter_set = getattr(options, "set", None) or interface.parameter_sets[0]
    refused = getattr(options, "refused", False)
    return CallSubject(choice, operation, parameter_set, options.seed, refused)


def run_constant_time(options: argparse.Namespace) -> int:
    """Prove it, or fail with 1. Raises ValueError for a limit below one second."""
    check_proof(options)
    choice = choose_calls(options.family, chosen_settings(options))
    with progress(f"proving {options.family}"):
        proof = prove_calls(choice.design, seconds=options.seconds)
    declared = choice.design.interface.constant_time
    return print_proof(options, choice.values, declared=declared, proof=proof)


def run_schedule(options: argparse.Namespace) -> int:
    """Prove it, or fail with 1. Raises ValueError for a design without a theorem."""
    choice = choose_calls(options.family, chosen_settings(options))
    design = choice.design
    if not isinstance(design, LatticeDesign):
        known = f"{', '.join(THEOREMS)}, {FAMILY}"
        raise ValueError(f"this design has no theorem of its schedule; there are: {known}")
    proved = f"proved: {options.family} computes {statement(design)}"
    settings = {"parameters": dict(choice.values)}
    return show_schedule(options, lambda: prove(design), proved, settings)
