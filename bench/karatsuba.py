"""The karatsuba family: cycles of a multiplication beside KARATSUBA's, each parameter by itself."""

import random
import sys
from collections.abc import Iterator, Mapping
from itertools import product

from coprime_evidence.papers import karatsuba as paper

from coprime.catalog import Choice, family_named
from coprime.cells.facts import WIDTHS
from coprime.cells.target import Target
from coprime.device.accelerator import Accelerator, Result
from coprime.device.simulated import open_simulation
from coprime.explore.measure import Area, measure_area
from coprime.rsa import keys
from coprime.runs.single_multiplication import predict_multiplication, simulate_multiplication

from .page import table, thousands

FAMILY = family_named("karatsuba")
WORDS = (16, 32, 64)
"""The paper's; others are measured with all WIDTHS that there are."""
SIZES = (512, 1024, 2048)
DEVICE = "LFE5U-85F"
LATENCY_SIZES = (*((1024, word) for word in WIDTHS), (512, 64))
CLOCKED, CLOCKED_LATENCIES = (1024, 32), (2, 4, 6)
MAPPED_WORD = 32
"""Of the designs of each parameter's values, those whose area is measured."""
Settings = Mapping[str, int | str]
PAPER: Settings = {"exponentiator": "left-to-right", "scaled": 0, "interleaved": 0}
"""The paper's choice for what the catalogue knows besides length, word, latency, multipliers."""
DEFAULTS: Settings = {one.name: one.default for one in FAMILY.parameters if one.name in PAPER}
VARIATIONS: tuple[Settings, ...] = (
    *({"exponentiator": "fixed-window", "window": window} for window in (1, 2, 4)),
    {"scaled": 1},
    {"interleaved": 1},
)
"""Other values, one parameter at a time."""


def choose(**settings: int | str) -> Choice:
    return FAMILY.choose({name: str(value) for name, value in settings.items()})


def choose_papers(**settings: int | str) -> Choice:
    """The paper's choice, where nothing else is said."""
    return choose(**{**PAPER, **settings})


def choose_multiplier(**settings: int | str) -> Choice:
    """One multiplier as the paper's, by itself: what exponentiates with it does not change it."""
    others = {name: value for name, value in PAPER.items() if name != "exponentiator"}
    return choose(multipliers=1, **{**others, **settings})


def progress(text: str) -> None:
    if sys.stderr.isatty():
        print(text, file=sys.stderr)


# --- One multiplication -------------------------------------------------------------------------


def multiply(choice: Choice, bits: int) -> tuple[int, int]:
    """Cycles and products of one multiplication, simulated and as predicted."""
    done = simulate_multiplication(choice.design, bits, seed=1)
    assert done == predict_multiplication(choice.design, bits)  # `right` is True in both
    return done.cycles, done.products


def multiplications() -> str:
    rows = []
    for bits, word in product(SIZES, WORDS):
        progress(f"multiplication, {bits} bits, words of {word}")
        choice = choose_multiplier(max_bits=bits, word=word)
        latency = choice.design.multiplication.latency
        cycles, products = multiply(choice, bits)
        formula = paper.multiplication_cycles(bits, word, latency)
        published = paper.MULTIPLICATIONS.get((bits, word))
        # Microseconds by megahertz, of three digits.
        times = thousands(round(published[2] * published[3])) if published else ""
        rows.append(
            (
                *(thousands(bits), word, choice.design.capabilities.digits(bits), latency),
                *(thousands(cycles), f"{products / cycles:.1%}", thousands(formula)),
                *(f"{cycles / formula:.3f}", times),
            )
        )
    head = ["bits", "word", "words", "latency", "cycles", "utilization", "the paper's formula"]
    return table([*head, "ratio", "the paper's time by clock"], rows)


def latencies(clocks: Mapping[int, Area]) -> str:
    """Cycles by the registers on the way of a product; clocks of some."""
    (parameter,) = (one for one in FAMILY.parameters if one.name == "latency")
    rows = []
    for latency in range(parameter.minimum, parameter.maximum + 1):
        row: list[object] = [latency]
        for bits, word in LATENCY_SIZES:
            progress(f"latency {latency}, {bits} bits, words of {word}")
            choice = choose_multiplier(max_bits=bits, word=word, latency=latency)
            # A narrow product has fewer places.
            placed = choice.design.multiplication.latency == latency
            row.append(thousands(multiply(choice, bits)[0]) if placed else "")
        row.append(f"{clocks[latency].fmax_mhz:.1f}" if latency in clocks else "")
        rows.append(row)
    sizes = (f"cycles, {thousands(bits)} / {word}" for bits, word in LATENCY_SIZES)
    clocked = f"MHz, {thousands(CLOCKED[0])} / {CLOCKED[1]}"
    return table(["latency", *sizes, clocked], rows)


# --- Clock ---------------------------------------------------------------------------------------


def measure_latencies() -> Mapping[int, Area]:
    """The multiplier by itself on ecp5, placed and routed, for some latencies."""
    bits, word = CLOCKED
    clocks = {}
    for latency in CLOCKED_LATENCIES:
        progress(f"clock, latency {latency}")
        clocks[latency] = route(choose_multiplier(max_bits=bits, word=word, latency=latency))
    return clocks


def route(choice: Choice) -> Area:
    return measure_area(choice, Target.ECP5, part="multiplier", route=True, device=DEVICE)


# --- RSA ----------------------------------------------------------------------------------------


def operate(choice: Choice, bits: int, *, direct: bool) -> Result:
    """A private operation with a real key: with CRT, or `direct`, as x^d modulo n."""
    key = keys.generate(bits, seed=1)
    x = random.Random(bits).randrange(key.n)
    with open_simulation(choice) as device:
        accelerator = Accelerator(device, predict=choice.design.predict)
        if direct:
            run = accelerator.modexp(x, key.d, key.n, exponent_length=bits)
        else:
            accelerator.load_private(key)
            run = accelerator.private(x)
    assert run.value == pow(x, key.d, key.n)
    assert run.cycles == run.predicted_cycles
    return run


def variations(**settings: int | str) -> Iterator[tuple[str, Choice]]:
    """The paper's choice first, then each parameter's other values, with what is varied.

    One at a time; a value that the design refuses beside the paper's other ones comes with the
    defaults of those, if it can.
    """
    yield "as the paper", choose_papers(**settings)
    for varied in VARIATIONS:
        for others in (PAPER, DEFAULTS):
            choice = choose(**{**settings, **others, **varied})
            if _is_design(choice):
                changed = {name: one for name, one in others.items() if one != PAPER[name]} | varied
                yield ", ".join(f"{name} {value}" for name, value in changed.items()), choice
                break


def _is_design(choice: Choice) -> bool:
    try:
        return bool(choice.design)
    except ValueError:
        return False


def parameters() -> str:
    """Cycles and area of each parameter's values, all others as in the paper."""
    rows = []
    for word, multipliers in product((32, 64), (1, 2)):
        first: list[int] = []
        for varied, choice in variations(max_bits=1024, word=word, multipliers=multipliers):
            progress(f"parameters, {choice.values}")
            private, power = (
                operate(choice, 1024, direct=direct).cycles for direct in (False, True)
            )
            mapped = measure_area(choice, Target.XC7) if word == MAPPED_WORD else None
            first = first or [private, power]
            rows.append(
                (
                    *(word, multipliers, varied),
                    *(thousands(private), f"{private / first[0]:.3f}"),
                    *(thousands(power), f"{power / first[1]:.3f}"),
                    *(_figures(mapped) if mapped else [""] * 4),
                    "yes" if choice.design.capabilities.constant_time else "no",
                )
            )
    head = ["word", "multipliers", "choice", "with CRT", "ratio", "without CRT", "ratio"]
    return table([*head, "LUTs", "flip-flops", "DSP48E1", "block RAM", "constant time"], rows)


def _figures(area: Area) -> tuple[object, ...]:
    return thousands(area.lut), thousands(area.ff), area.dsp, f"{area.bram:g}"


def measure() -> dict[str, str]:
    """The family's parts of the page."""
    return {
        "karatsuba multiplication": multiplications(),
        "karatsuba latency": latencies(measure_latencies()),
        "karatsuba parameters": parameters(),
    }
