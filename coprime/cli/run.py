"""`coprime run`: one operation in simulation, compared with Python's integers."""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence

from coprime.catalog import CLUSTER, MODULUS, Choice, ClusterChoice
from coprime.ec.samples import AnyCurve, curve_for, curves_of
from coprime.engine.contract import Command
from coprime.explore.explain import BudgetExplanation, Explanation, explain, explain_budget
from coprime.flow.part_names import ALONE
from coprime.operations.lengths import Lengths
from coprime.operations.operation import Key, Numbers
from coprime.random.kinds import RandomSource
from coprime.rsa.keys import RsaPublicKey
from coprime.runs.execution import Run, predict_operation, run_cluster, run_operation
from coprime.runs.numbers import numbers_on, random_lengths, random_numbers
from coprime.runs.single_multiplication import run_alone

from .arguments.run import MODULUS_OPTION, raw_inputs
from .key_files import load_private, load_public
from .options import (
    FAILED,
    chosen_design,
    chosen_engine,
    chosen_paddings,
    chosen_settings,
)
from .output import check_file, print_json, print_result
from .progress import announce, progress

_EXPLAINS = "--explain is for compression, which is made for one modulus, and for -p dsp= of ring"
_NOT_ALONE = ("curve", "key", "input", "exponents", "requests", "explain", "trace")
"""Options that what a part does alone does not take; nor does it take numbers."""


def run(options: argparse.Namespace) -> int:
    """Run the operation; 1 if its result or its cycles are wrong.

    Raises ValueError for options that exclude each other.
    """
    if options.operation in ALONE.values():
        return _run_alone(options)
    command = Command[options.operation]
    choice = chosen_design(options, command=command)
    if options.trace is not None:
        check_file("--trace", options.trace)
    many = isinstance(choice, ClusterChoice)
    fixed = not many and MODULUS in choice.values
    if options.explain and not fixed and not _has_budget(options, choice):
        raise ValueError(_EXPLAINS)
    if options.requests is not None and not many:
        raise ValueError("--requests is for a cluster")
    if many and chosen_paddings(options):
        raise ValueError("a cluster has no padding in hardware")
    if isinstance(choice, Choice) and fixed:
        return _run_fixed(options, choice, command)
    if options.explain and _nothing_given(options):
        _explain_budget(options, choice)
        return 0
    given = _numbers(options, choice, options.seed) if options.bits is None else None
    lengths = (
        random_lengths(command, options.bits)
        if given is None
        else command.operation.encoding.lengths(given)
    )
    choice = chosen_design(options, lengths, command)
    if isinstance(choice, ClusterChoice):
        return _run_cluster(options, choice, command, given)
    if options.explain:
        _explain_budget(options, choice, lengths)
    return _run_one(options, choice, command, given or _numbers(options, choice, options.seed))


def _run_alone(options: argparse.Namespace) -> int:
    """Run what a part of the engine does alone, on random numbers of --bits."""
    operation = options.operation
    others = [*raw_inputs(), *_NOT_ALONE]
    choice = chosen_engine(options, operation)
    given = any(getattr(options, name) for name in others) or chosen_paddings(options)
    if options.bits is None or given:
        raise ValueError(f"{operation} takes random numbers: --bits, --seed, and no other option")
    with progress(f"simulating {operation} on {choice.family.name}"):
        done = run_alone(choice, operation, options.bits, options.seed)
    rows = [
        ("", "equal to Python's" if done.ok else "WRONG: differs from Python's result"),
        ("cycles", f"{done.cycles:,}"),
        ("predicted", f"{done.predicted_cycles:,}"),
        ("utilization", f"{done.utilization:.1%} of the cycles"),
    ]
    print_result(done, rows, as_json=options.json)
    return 0 if done.ok and done.cycles == done.predicted_cycles else FAILED


def predicted(options: argparse.Namespace) -> tuple[int, float]:
    """Cycles and utilization of one engine with random operands, as `run` counts them.

    Predicted, not simulated. Raises ValueError as `coprime run`, and EngineError if the hardware
    would refuse.
    """
    command = Command[options.operation]
    choice = chosen_design(options, command=command)
    numbers = _numbers(options, choice, options.seed)
    choice = chosen_design(options, command.operation.encoding.lengths(numbers), command)
    if isinstance(choice, ClusterChoice):
        raise ValueError("a prediction is of one engine: name its family")
    found = predict_operation(choice.design, command, numbers)
    return found.cycles, found.products / found.cycles / choice.design.capabilities.multipliers


def _run_fixed(options: argparse.Namespace, choice: Choice, command: Command) -> int:
    """Run an operation on a family that is made for one modulus: that of the operands, unless
    -p names one."""
    settings = chosen_settings(options)
    fixed = None
    if MODULUS in settings:
        fixed = choice.design.capabilities.fixed_modulus
        if options.m not in (None, fixed):
            raise ValueError(
                f"-p {MODULUS}={settings[MODULUS]} is {fixed:x} in hexadecimal digits, and --m is"
                f" {options.m:x}: leave one of them out"
            )
        options.m = fixed if options.m is None and options.bits is None else options.m
    if options.explain and _nothing_given(options):
        if options.m is None:
            raise ValueError(f"--explain needs the modulus: --m HEX, or -p {MODULUS}=")
        chosen = choice.family.choose(settings | {MODULUS: f"{options.m:#x}"})
        _show(options, explain(chosen), alone=True)
        return 0
    numbers = _numbers(options, choice, options.seed, fixed)
    if fixed is None:
        modulus = command.operation.encoding.modulus(numbers)
        choice = choice.family.choose(settings | {MODULUS: f"{modulus:#x}"})
    if options.explain:
        _show(options, explain(choice), alone=False)
    announce(choice)
    return _run_one(options, choice, command, numbers)


def _nothing_given(options: argparse.Namespace) -> bool:
    """Whether there are no operands, but maybe a modulus."""
    given = {*raw_inputs(), "key", "input", "bits"} - {MODULUS_OPTION}
    return all(getattr(options, name) is None for name in given)


def _has_budget(options: argparse.Namespace, choice: Choice | ClusterChoice) -> bool:
    """Whether a design is picked by -p dsp=."""
    budget = None if isinstance(choice, ClusterChoice) else choice.family.budget
    return budget is not None and budget.parameter.name in chosen_settings(options)


def _explain_budget(
    options: argparse.Namespace, choice: Choice | ClusterChoice, lengths: Lengths | None = None
) -> None:
    """Print the designs within the budget."""
    explained = explain_budget(choice.core.family, chosen_settings(options), lengths)
    _show(options, explained, alone=lengths is None)


def _show(
    options: argparse.Namespace, explained: Explanation | BudgetExplanation, *, alone: bool
) -> None:
    """Print an explanation; beside a result as JSON, on stderr."""
    if options.json and alone:
        print_json(explained.record())
    else:
        print(explained.text, file=sys.stderr if options.json else sys.stdout)


def _run_one(
    options: argparse.Namespace, choice: Choice, command: Command, numbers: Numbers
) -> int:
    with progress(f"simulating {command.name} on {choice.family.name}") as passed:
        done = run_operation(
            choice,
            command,
            numbers,
            trace=options.trace,
            progress=passed,
            paddings=chosen_paddings(options),
        )
    _print(
        options,
        done,
        *_result_rows(done),
        ("", "equal to Python's" if done.ok else "WRONG: differs from Python's result"),
        predicted=("predicted", f"{done.predicted_cycles:,}"),
        speed=f"{done.cycles_per_second / 1e6:.1f} million",
    )
    waited = done.cycles - done.predicted_cycles
    # An engine waits for bytes of a source in the hardware, which the prediction does not know.
    right = waited == 0 if choice.source is RandomSource.STREAM else waited >= 0
    return 0 if done.ok and right else FAILED


def _result_rows(done: Run) -> list[tuple[str, str]]:
    """The numbers of the result in hexadecimal digits."""
    first, *others = (f"{value:x}" for value in done.outputs.values())
    return [("result", first), *(("", output) for output in others)]


def _run_cluster(
    options: argparse.Namespace, choice: ClusterChoice, command: Command, given: Numbers | None
) -> int:
    """Run requests with these operands, or with random ones of --bits."""
    count = choice.cores if options.requests is None else options.requests
    if count < 1:
        raise ValueError(f"--requests must be 1 or more, not {count}")
    if given is not None:
        work = [given] * count
    else:
        fixed = choice.core.design.capabilities.fixed_modulus
        seeds = range(options.seed, options.seed + count)
        work = [_numbers(options, choice, seed, fixed) for seed in seeds]
    announce(choice)
    with progress(f"simulating {command.name} on a {CLUSTER}", count) as passed:
        done = run_cluster(choice, command, work, trace=options.trace, progress=passed)
    _print(
        options,
        done,
        ("requests", f"{done.requests:,} on {choice.cores:,} cores"),
        ("results", "all equal to Python's" if done.ok else "WRONG: differ from Python's"),
        predicted=(
            "engines",
            f"{done.predicted_cycles:,} a core, which is {done.busy:.1%} of them",
        ),
        speed=f"{done.cycles_per_second / 1e3:.1f} thousand",
    )
    return 0 if done.ok else FAILED


def _print(
    options: argparse.Namespace,
    done: Run,
    *results: tuple[str, str],
    predicted: tuple[str, str],
    speed: str,
) -> None:
    rows = [
        *results,
        ("cycles", f"{done.cycles:,}"),
        predicted,
        ("utilization", f"{done.utilization:.1%} of the multipliers' cycles"),
        ("simulation", f"{speed} cycles a second"),
    ]
    print_result(done, rows, as_json=options.json)


def _chosen_curve(options: argparse.Namespace, command: Command) -> AnyCurve | None:
    """The curve of --curve, if it is given.

    ValueError for a command that is for none, and for a curve that is not one of its.
    """
    if options.curve is None:
        return None
    if not curves_of(command):
        raise ValueError(f"--curve is for operations on named curves, not for {command.name}")
    return curve_for(command, options.curve)


def _numbers_on_curve(
    options: argparse.Namespace,
    command: Command,
    curve: AnyCurve,
    seed: int,
    given: Sequence[str],
) -> Numbers:
    """The curve's numbers, and random ones for those that are not given."""
    if options.bits is not None:
        raise ValueError("--curve says how long the numbers are: leave out --bits, or --curve")
    numbers = numbers_on(command, curve, seed)
    surplus = [name for name in given if name.removeprefix("--") not in numbers]
    if surplus:
        raise ValueError(f"{command.name} takes no {surplus[0]}")
    names = [name.removeprefix("--") for name in given]
    return {**numbers, **{name: getattr(options, name) for name in names}}


_LOADERS: Mapping[Key, Callable[[argparse.Namespace], RsaPublicKey]] = {
    Key.PUBLIC: load_public,
    Key.PRIVATE: load_private,
}
"""What reads --key."""


def _numbers(
    options: argparse.Namespace,
    choice: Choice | ClusterChoice,
    seed: int,
    fixed: int | None = None,
) -> Numbers:
    """The inputs of the command: from a key, from a seed, or raw; modulo `fixed` if not None."""
    command = Command[options.operation]
    if options.exponents is not None and options.bits is None:
        raise ValueError("--exponents is for random operands: name their length with --bits")
    raw = {name: getattr(options, name) for name in raw_inputs()}
    given = [f"--{name}" for name, value in raw.items() if value is not None]
    if options.key is not None or options.input is not None:
        load = _LOADERS.get(command.operation.key)
        if load is None:
            raise ValueError(f"--key and --input are for RSA operations, not for {command.name}")
        if options.key is None or options.input is None or given or options.bits is not None:
            raise ValueError("an RSA operation takes --key and --input together, or --bits alone")
        return {"x": options.input, **command.operation.encoding.of_key(load(options))}
    curve = _chosen_curve(options, command)
    if curve is not None:
        return _numbers_on_curve(options, command, curve, seed, given)
    if options.bits is not None:
        if given:
            raise ValueError(f"--bits makes all operands; leave out {given[0]}, or --bits")
        return random_numbers(
            *(command, options.bits, seed),
            exponents=options.exponents or "random",
            modulus=fixed,
            checked=choice.core.design.capabilities.checked,
        )
    needed = [number.name for number in command.operation.given]
    if not needed:
        raise ValueError(f"{command.name} takes --key and --input, or --bits")
    missing = [f"--{name}" for name in needed if raw[name] is None]
    if missing:
        wanted = " ".join(f"--{name}" for name in needed)
        others = "--curve, or --bits" if curves_of(command) else "--bits"
        raise ValueError(f"{command.name} needs {wanted} (or {others}); {missing[0]} is missing")
    surplus = [name for name in given if name.removeprefix("--") not in needed]
    if surplus:
        raise ValueError(f"{command.name} takes no {surplus[0]}")
    numbers = {name: raw[name] for name in needed}
    for name in command.operation.encoding.too_large(numbers):
        raise ValueError(f"{command.name} needs --{name} below --{MODULUS_OPTION}")
    return numbers
