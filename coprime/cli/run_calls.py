"""`coprime run` for engines of byte strings: one call in simulation, compared with a reference."""

import argparse
from random import Random

from coprime.calls.interface import Call, EngineInterface, Values
from coprime.catalog import CallChoice
from coprime.runs.calls import CallRun, run_call, run_calls

from .arguments.run_calls import length_of, option_of, place_of
from .options import FAILED, chosen_calls
from .output import check_file, print_result
from .progress import progress

_MOST_SHOWN = 64
"""Bytes of an output that are shown; with --json all are."""
_MOST_DRAWN = 1 << 24
"""Bytes of a stream that is drawn."""


def run(options: argparse.Namespace) -> int:
    """Run the call; 1 if its outputs or its cycles are wrong.

    Raises ValueError for a value that the call does not take, or of a wrong length.
    """
    choice = chosen_calls(options)
    interface = choice.design.interface
    call = interface.named(options.operation)
    parameter_set = getattr(options, "set", None) or interface.sets_of(call)[0]
    given = {slot.name: getattr(options, place_of(slot.name), None) for slot in interface.slots}
    values = {name: value for name, value in given.items() if value is not None}
    values |= _drawn_streams(options, interface, values)
    for name in values:
        if name not in call.takes:
            raise ValueError(f"{call.name} takes no {option_of(name)}")
    interface.check_set(call, parameter_set)
    interface.check(values, parameter_set)
    if options.trace is not None:
        check_file("--trace", options.trace)
    if choice.cores > 1:
        return _run_many(options, choice, call, values, parameter_set)
    if options.requests is not None:
        raise ValueError("--requests is for several cores: -p cores=")
    with progress(f"simulating {call.name} on {choice.family.name}") as passed:
        done = run_call(
            choice,
            call,
            values,
            parameter_set=parameter_set,
            seed=options.seed,
            trace=options.trace,
            progress=passed,
        )
    rows = [
        *_rows(interface, done),
        ("", "equal to the reference" if done.ok else "WRONG: differs from the reference"),
        ("cycles", f"{done.cycles:,}"),
        ("predicted", f"{done.predicted_cycles:,}"),
        ("utilization", f"{done.utilization:.1%} of the cycles"),
        ("simulation", f"{done.cycles_per_second / 1e6:.1f} million cycles a second"),
    ]
    print_result(done, rows, as_json=options.json)
    return 0 if done.ok and done.cycles == done.predicted_cycles else FAILED


def _run_many(
    options: argparse.Namespace, choice: CallChoice, call: Call, values: Values, parameter_set: str
) -> int:
    """Run the call on all cores."""
    count = choice.cores if options.requests is None else options.requests
    if count < 1:
        raise ValueError(f"--requests must be 1 or more, not {count}")
    with progress(f"simulating {call.name} on {choice.cores} cores", count) as passed:
        done = run_calls(
            choice,
            call,
            values,
            requests=count,
            parameter_set=parameter_set,
            seed=options.seed,
            trace=options.trace,
            progress=passed,
        )
    right = "all equal to the reference, in the predicted cycles"
    rows = [
        ("calls", f"{done.requests:,} on {choice.cores} cores"),
        ("", right if done.ok else "WRONG: outputs or cycles differ"),
        ("cycles", f"{done.cycles:,}"),
        ("engines", f"{done.predicted_cycles:,} a core, which is {done.busy:.1%} of them"),
        ("throughput", f"{done.calls_per_million_cycles:.1f} calls in a million cycles"),
        ("simulation", f"{done.cycles_per_second / 1e6:.1f} million cycles a second"),
    ]
    print_result(done, rows, as_json=options.json)
    return 0 if done.ok else FAILED


def _drawn_streams(
    options: argparse.Namespace, interface: EngineInterface, values: Values
) -> Values:
    """Streams of which only a length is given. ValueError for one that is given, too."""
    drawn = {}
    for slot in interface.slots:
        size = getattr(options, length_of(slot.name), None)
        if size is None:
            continue
        option = option_of(slot.name)
        if slot.name in values:
            raise ValueError(f"{option} has its own length: leave {option}-bytes out")
        if not 0 <= size <= _MOST_DRAWN:
            raise ValueError(f"{option}-bytes must be in 0..{_MOST_DRAWN}, not {size}")
        drawn[slot.name] = Random(options.seed).randbytes(size)
    return drawn


def _rows(interface: EngineInterface, done: CallRun) -> list[tuple[str, str]]:
    """The outputs in hexadecimal digits, but for secrets."""
    rows = []
    for name, data in done.outputs.items():
        if interface.slot[name].secret:
            text = f"{len(data):,} bytes, a secret"
        elif len(data) > _MOST_SHOWN:
            text = f"{data[:_MOST_SHOWN].hex()}... ({len(data):,} bytes)"
        else:
            text = data.hex()
        rows.append((name.replace("_", "-"), text))
    return rows
