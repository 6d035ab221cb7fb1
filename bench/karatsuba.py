"""The karatsuba family: cycles, area, clock beside KARATSUBA's, RSA, each parameter by itself."""

import random
import sys
from collections.abc import Iterator, Mapping
from itertools import product

from coprime.catalog import Choice, family_named
from coprime.cells.karatsuba_product import WIDTHS
from coprime.cells.target import Target
from coprime.device.accelerator import Accelerator, Result
from coprime.device.simulated import open_simulation
from coprime.explore.measure import Area, measure_area
from coprime.papers import karatsuba as paper
from coprime.rsa import keys
from coprime.runs.single_multiplication import predict_multiplication, simulate_multiplication

from .page import table, thousands

FAMILY = family_named("karatsuba")
WORDS = (16, 32, 64)
"""The paper's. Whole operations and areas are measured with all WIDTHS that there are."""
SIZES = (512, 1024, 2048)
AREA_BITS = 2048
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


# --- Area and clock -----------------------------------------------------------------------------

Areas = Mapping[tuple[str, int], Area]


def measure_areas() -> Areas:
    """The paper's choice on xc7: the multiplier by itself, and the engine with two."""
    areas = {}
    for word in WIDTHS:
        progress(f"area, words of {word}")
        settings = {"max_bits": AREA_BITS, "word": word}
        for part, choice in (
            ("multiplier", choose_multiplier(**settings)),
            ("engine", choose_papers(**settings, multipliers=2)),
        ):
            areas[part, word] = measure_area(choice, Target.XC7, part=part)
    return areas


def area(areas: Areas) -> str:
    rows = []
    for (part, word), own in areas.items():
        of = paper.MULTIPLICATIONS if part == "multiplier" else paper.EXPONENTIATIONS
        slices, dsp = of[AREA_BITS, word][:2] if word in WORDS else ("", "")
        rows.append(
            (
                *(part, word, thousands(own.lut), own.lutram, thousands(own.ff), own.carry),
                *(f"{own.bram:g}", thousands(own.slices_estimate), slices, own.dsp, dsp),
            )
        )
    head = ["part", "word", "LUTs", "as memory", "flip-flops", "carry cells", "block RAM"]
    head += ["slices at least", "the paper's slices", "DSP48E1", "the paper's DSP48E1"]
    return table(head, rows)


def measure_clocks() -> Mapping[int, Area]:
    """The multiplier by itself on ecp5, placed and routed, by its words."""
    clocks = {}
    for word in WORDS:
        progress(f"clock, words of {word}")
        clocks[word] = route(choose_multiplier(max_bits=AREA_BITS, word=word))
    return clocks


def measure_latencies() -> Mapping[int, Area]:
    """The same for some latencies."""
    bits, word = CLOCKED
    clocks = {}
    for latency in CLOCKED_LATENCIES:
        progress(f"clock, latency {latency}")
        clocks[latency] = route(choose_multiplier(max_bits=bits, word=word, latency=latency))
    return clocks


def route(choice: Choice) -> Area:
    return measure_area(choice, Target.ECP5, part="multiplier", route=True, device=DEVICE)


def clock(clocks: Mapping[int, Area]) -> str:
    rows = [
        (
            *(word, thousands(own.lut), thousands(own.ff), own.dsp, f"{own.fmax_mhz:.1f}"),
            f"{paper.MULTIPLICATIONS[AREA_BITS, word][2]:g}",
        )
        for word, own in clocks.items()
    ]
    head = ["word", "LUTs", "flip-flops", "DSP", "MHz", "MHz on the paper's Virtex-7"]
    paths = "\n".join(f"* words of {word}: {own.critical_path}" for word, own in clocks.items())
    return f"{table(head, rows)}\nCritical paths:\n\n{paths}\n"


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


def operations(areas: Areas, clocks: Mapping[int, Area]) -> str:
    rows = []
    for bits, word in product((1024, 2048, 4096), WIDTHS):
        if (bits, word) == (4096, 16):
            continue  # its direct exponentiation takes minutes to simulate
        progress(f"RSA-{bits}, words of {word}")
        choice = choose(max_bits=bits, word=word)
        assert choice.values["multipliers"] == 2
        private, power = (operate(choice, bits, direct=direct) for direct in (False, True))
        published = paper.EXPONENTIATIONS.get((bits, word))
        rows.append(
            (
                *(thousands(bits), word, areas["engine", word].dsp),
                *(thousands(private.cycles), f"{private.utilization:.1%}"),
                _milliseconds(private, clocks.get(word)),
                *(thousands(power.cycles), f"{power.utilization:.1%}"),
                _milliseconds(power, clocks.get(word)),
                # Milliseconds by megahertz, of three digits.
                thousands(round(published[2] * published[3] * 1000)) if published else "",
            )
        )
    head = ["bits", "word", "DSP48E1", "with CRT", "utilization", "ms at our clock"]
    head += ["without CRT", "utilization", "ms at our clock", "the paper's time by clock"]
    return table(head, rows)


def _milliseconds(run: Result, routed: Area | None) -> str:
    return f"{run.cycles / routed.fmax_mhz / 1e3:.2f}" if routed and routed.fmax_mhz else ""


TOGETHER: tuple[Settings, ...] = (
    {"word": 64, "exponentiator": "left-to-right"},
    {"word": 64},
    {"word": 64, "scaled": 1},
    {"word": 64, "multipliers": 1},
    {"word": 64, "multipliers": 1, "interleaved": 1},
    {"word": 64, "multipliers": 1, "scaled": 1, "interleaved": 1},
    {"word": 128},
    {"word": 128, "scaled": 1},
    {"word": 128, "multipliers": 1, "scaled": 1, "interleaved": 1},
)
"""Designs for RSA-2048: the paper's choice, then what is beyond it, by itself and together."""


def together() -> str:
    """RSA-2048 with a real key beside the paper's exponentiation of 2048 bits on 54 DSP slices."""
    bits, published = 2048, paper.EXPONENTIATIONS[2048, 64]
    time_by_clock = published[2] * published[3] * 1000
    rows = []
    for settings in TOGETHER:
        progress(f"RSA-{bits}, {dict(settings)}")
        choice = choose(max_bits=bits, **settings)
        run = operate(choice, bits, direct=False)
        mapped = measure_area(choice, Target.XC7)
        rows.append(
            (
                ", ".join(f"{name} {value}" for name, value in settings.items()),
                *(mapped.dsp, thousands(mapped.lut), f"{mapped.bram:g}"),
                *(thousands(run.cycles), f"{run.utilization:.1%}"),
                f"{time_by_clock / run.cycles:.1f}",
                thousands(round(run.cycles * mapped.dsp / 1000)),
                "yes" if choice.design.capabilities.constant_time else "no",
            )
        )
    head = ["choice", "DSP48E1", "LUTs", "block RAM", "cycles", "utilization"]
    head += ["the paper's over these", "thousand DSP cycles", "constant time"]
    return table(head, rows)


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


def _figures(own: Area) -> tuple[object, ...]:
    return thousands(own.lut), thousands(own.ff), own.dsp, f"{own.bram:g}"


def measure() -> str:
    """The family's part of the page."""
    products = multiplications()
    areas, clocks, by_latency = measure_areas(), measure_clocks(), measure_latencies()
    by_registers = latencies(by_latency)
    rsa = operations(areas, clocks)
    by_parameter, by_choice = parameters(), together()
    names = ", ".join(f"{name}={value}" for name, value in PAPER.items())
    return f"""## karatsuba

KARATSUBA is the paper (San, At 2014); its figures are quoted from the paper and are for a
Virtex-7 7VX330T-3. 'As the paper' means {names}.

### One multiplication

From start to done, in simulation; the paper's formula, (d + 1)(d + 1) + (l + 1), with our latency
as its l. It counts from the first product on, ours the loading before it too. The paper has no 512
bits in words of 64. A sweep with `part = "multiplier"` measures them again.

{products}
### Area

`coprime synth karatsuba --target xc7 -p max_bits={AREA_BITS} -p word=WORD` with the paper's
choice, the multiplier with `--part multiplier`. The engine has two multipliers. The paper's are its
Tables 1 and 2 at {AREA_BITS} bits.

{area(areas)}
### Clock of the multiplier alone

`coprime synth karatsuba --part multiplier --target ecp5 --route --device {DEVICE}`,
{AREA_BITS} bits, on {clocks[WORDS[0]].device}.

{clock(clocks)}
### Latency

The multiplier alone, by bits / word. If q takes more cycles than an iteration has words,
iterations wait for it. There is no figure if a product has no room for so many registers.

{by_registers}
### RSA with real keys

On two multipliers, all other parameters with their defaults. Without CRT it is MODEXP with the
private exponent, beside Table 2. Our clock is that of the multiplier alone on {DEVICE}, above.
Single case: `coprime run karatsuba RSA_PRIVATE -p word=64 --bits 2048`.

{rsa}
### Each parameter separately

RSA-1024 with a real key; what is not named is as in the paper.

{by_parameter}
### RSA-2048, private operation

`coprime run karatsuba RSA_PRIVATE --bits 2048 -p word=64 ...` with a real key; all other parameters
with their defaults, two multipliers where nothing is said. 'The paper's' cycles are its Table 2's
time by clock for an exponentiation of 2048 bits, without CRT, on 54 DSP slices.

{by_choice}
"""
