"""KARATSUBA: very high radix Montgomery on pipelined Karatsuba multipliers.

Ismail San, Nuray At, "Improving the computational efficiency of modular operations for embedded
systems", Journal of Systems Architecture, 2014.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from coprime.bus.kinds import Bus

from .published import Computed, Figure, Measured, Sources, at_clock, over_clock, read_publication
from .views import Panel, Place, View

Size = tuple[int, int]  # bits of the modulus, and of a word
Figures = tuple[int, int, float, float]  # slices, DSP48E1, MHz, and the time

_PRINTED = read_publication("karatsuba")


def _numbers(label: str) -> tuple[int, ...]:
    """Bits, and the bits of a word if a row's label names them."""
    found = re.search(r"([\d,]+) bits(?:, words of (\d+))?", label)
    return tuple(int(group.replace(",", "")) for group in found.groups() if group) if found else ()


def _by_size(number: str) -> Mapping[Size, Figures]:
    return {_size(label): tuple(figures) for label, *figures in _PRINTED.lines(number)}


def _size(label: str) -> Size:
    bits, word = _numbers(label)
    return bits, word


MULTIPLICATIONS = _by_size("Table 1")  # Table 1: one modular multiplication, times in microseconds

EXPONENTIATIONS = _by_size("Table 2")
"""Table 2: one exponentiation on two multipliers, times in milliseconds."""

SYSTEM_WORDS: Mapping[int, int] = {512: 32, 1024: 64, 2048: 64}
"""Tables 3 and 4 name no words; these have the DSP slices that are printed there, by bits."""

SYSTEM_MEGAHERTZ = 100  # Table 4: the coprocessor's clock


def _systems(name: str) -> Mapping[int, tuple[Any, ...]]:
    """Table 4: slices, DSP48E1 and milliseconds of an exponentiation, by bits."""
    return {
        _numbers(label)[0]: (slices, dsp, time)
        for label, slices, dsp, _, time, _ in _PRINTED.lines("Table 4")
        if label.startswith(f"{name},")
    }


SOFTWARE: Mapping[int, float] = {bits: time for bits, (*_, time) in _systems("Software").items()}
"""Table 4: milliseconds of an exponentiation by software alone, by bits."""

SYSTEMS: Mapping[Bus, Mapping[int, tuple[int, int, float]]] = {
    bus: _systems(bus.title) for bus in Bus
}
"""Table 4: slices, DSP48E1 and milliseconds of an exponentiation, by bus and bits."""


def multiplication_cycles(bits: int, word: int, latency: int) -> int:
    """Section 6.3: cycles of a multiplication; `latency` is that of a product of two words."""
    d = -(-bits // word)
    return (d + 1) * (d + 1) + (latency + 1)


# --- What the figures are compared with ---------------------------------------------------------

_ECP5 = "LFE5U-85F-6 CABGA381"  # the one device for all sizes
_OWN_CLOCK = "At the multiplier's clock on LFE5U-85F"


def _measured(column: str, size: Size, parameters: Mapping[str, Any], **settings: Any) -> Measured:
    """Measure a design made for this size, as the paper has it."""
    bits, word = size
    return Measured(
        column=column,
        family="karatsuba",
        bits=bits,
        parameters={"max_bits": bits, "word": word, **parameters, "scaled": 0, "interleaved": 0},
        **settings,
    )


def _multiplier(column: str, size: Size, target: str | None = None, **settings: Any) -> Measured:
    """Measure one multiplier alone."""
    return _measured(
        *(column, size, {"multipliers": 1}),
        operation="MULTIPLICATION",
        part="multiplier",
        target=target,
        device=_ECP5 if target == "ecp5" else None,
        **settings,
    )


def _exponentiation(
    column: str, size: Size, target: str | None = "xc7", **settings: Any
) -> Measured:
    """Measure two multipliers that exponentiate bit by bit, with an all-ones exponent."""
    return _measured(
        *(column, size, {"multipliers": 2, "exponentiator": "left-to-right"}),
        operation="MODEXP",
        exponents="worst",
        target=target,
        **settings,
    )


def _compared(of: Callable[..., Measured], size: Size, megahertz: float, scale: float) -> Sources:
    """Area, clock, and times at the paper's clock and at ours; `scale` as `at_clock`."""
    cycles = of("cycles", size, target=None)
    clock = _multiplier("fmax_mhz", size, "ecp5", where=_OWN_CLOCK)
    return {
        "Slices": (of("slices_estimate", size, target="xc7"),),
        "DSP48E1": (of("dsp", size, target="xc7"),),
        "Frequency": (clock,),
        "Time": (at_clock(cycles, megahertz, scale), over_clock(cycles, clock, _OWN_CLOCK, scale)),
    }


_TABLE_1 = _PRINTED.table(
    "Table 1",
    lambda label: _compared(_multiplier, _size(label), MULTIPLICATIONS[_size(label)][2], 1),
)
_TABLE_2 = _PRINTED.table(
    "Table 2",
    lambda label: _compared(_exponentiation, _size(label), EXPONENTIATIONS[_size(label)][2], 1000),
)

# --- Table 3 ------------------------------------------------------------------------------------


def _fdfm(bits: int, megahertz: float, operation: str) -> Sources:
    """Our `fdfm` engine beside the authors of FDFM: at the printed clock, and at ours."""

    def measured(column: str, **settings: Any) -> Measured:
        return Measured(
            column=column,
            family="fdfm",
            bits=bits,
            operation=operation,
            exponents="worst",
            parameters={"max_bits": 2176, "multipliers": 1},
            **settings,
        )

    routed = {"target": "ecp5", "device": "LFE5U-25F-6 CABGA381"}
    return {"Time": (at_clock(measured("cycles"), megahertz), measured("milliseconds", **routed))}


def _work(label: str) -> Sources:
    bits = _numbers(label)[0] if _numbers(label) else 0
    if label.startswith("This work"):
        size = bits, SYSTEM_WORDS[bits]
        here = _compared(_exponentiation, size, EXPONENTIATIONS[size][2], 1000)
        names = {"Slices": "Area", "DSP48E1": "DSP blocks"}
        return {names.get(name, name): sources for name, sources in here.items()}
    if label.startswith("Bo et al. [6]"):
        return _fdfm(bits, 447, "MODEXP")
    if label.startswith("Bo et al. [22]"):
        return _fdfm(bits, 410, "RSA_PRIVATE")
    return {}


_TABLE_3 = _PRINTED.table("Table 3", _work)

# --- Table 4 ------------------------------------------------------------------------------------


_SYSTEM_CLOCK = f"RISC-V system in simulation, at {SYSTEM_MEGAHERTZ} MHz"


def _bus_of(label: str) -> Bus | None:
    return next((bus for bus in Bus if label.startswith(f"{bus.title},")), None)


def _system(label: str) -> Sources:
    """Ours beside a system's row: the processor is a PicoRV32 with the paper's coprocessor's clock.

    A system's cycles are from modulus, exponent and base in the processor's memory to the result
    there. Its speed-up is over software on the same processor.
    """
    bus, (bits,) = _bus_of(label), _numbers(label)
    if bus is None:  # software, the same beside every accelerator
        alone = _whole("software_cycles", bits, Bus.AXI4_LITE)
        return {"Time": (at_clock(alone, SYSTEM_MEGAHERTZ, where=_SYSTEM_CLOCK),)}
    with_it, alone = (_whole(name, bits, bus) for name in ("cycles", "software_cycles"))
    size = bits, SYSTEM_WORDS[bits]
    return {
        "Time": (at_clock(with_it, SYSTEM_MEGAHERTZ, where=_SYSTEM_CLOCK),),
        "Speed-up": (
            Computed(
                of=(alone, with_it),
                value=lambda software, system: software / system,
                where="RISC-V system in simulation",
                how="cycles of software over those of the system, on the same processor",
            ),
        ),
        **{
            name: (_exponentiation(column, size, part="accelerator", bus=bus.value),)
            for name, column in (("Slices", "slices_estimate"), ("DSP48E1", "dsp"))
        },
    }


def _whole(column: str, bits: int, bus: Bus) -> Measured:
    """Measure the whole system, which no target is needed for."""
    size = bits, SYSTEM_WORDS[bits]
    return _exponentiation(column, size, None, part="system", bus=bus.value)


def _speed_up(label: str) -> dict[str, Figure]:
    bus, (bits,) = _bus_of(label), _numbers(label)
    return {"Speed-up": SOFTWARE[bits] / SYSTEMS[bus][bits][2]} if bus else {}


_TABLE_4 = _PRINTED.table("Table 4", _system, computed=_speed_up)

TABLES = _PRINTED.complete((_TABLE_1, _TABLE_2, _TABLE_3, _TABLE_4))

# --- Its view -----------------------------------------------------------------------------------


def _by_radix(quantity: str) -> Callable[[str, str], Place | None]:
    def at(row: str, column: str) -> Place | None:
        bits, word = _size(row)
        return (word, f"{bits:,} bits") if column == quantity else None

    return at


_RADIX = "Bits of a word (radix 2^w)"

VIEW = View(
    paper=_PRINTED.paper,
    title="Radix and latency of one multiplication",
    panels=(
        Panel(
            name="latency",
            title="Latency in clock cycles",
            table="Table 1",
            at=_by_radix("Time"),
            value=lambda microseconds, row: microseconds * MULTIPLICATIONS[_size(row)][2],
            places={
                "Published": "Published: time x clock",
                "Simulation, at the paper's clock": "Simulation",
            },
            x_title=_RADIX,
            y_title="Clock cycles",
            logarithmic=True,
        ),
        Panel(
            name="time",
            title="Latency as a time",
            table="Table 1",
            at=_by_radix("Time"),
            x_title=_RADIX,
            y_title="Time in μs",
            logarithmic=True,
        ),
        Panel(
            name="slices",
            title="Slices of four LUTs with six inputs",
            table="Table 1",
            at=_by_radix("Slices"),
            x_title=_RADIX,
            y_title="Slices",
            logarithmic=True,
        ),
    ),
)
