"""Padding in hardware: what it adds to an accelerator, and the cycles that it takes."""

import random

from coprime.catalog import family_named
from coprime.cells.sha256 import Sha256
from coprime.cells.target import Target
from coprime.explore.measure import Area, measure_area
from coprime.flow.mapping import map_design
from coprime.flow.verilog import to_verilog
from coprime.model.padding_formats import bytes_of
from coprime.padding.instructions import Slot
from coprime.padding.scheme import Padding
from coprime.padding.tasks import Option, Task
from coprime.padding.unit import PaddingUnit, PaddingUnitModel

from .page import replace_part, table, thousands

PAGE, APPENDIX = "padding.md", "results.md"
BUILDS: tuple[tuple[Padding, ...], ...] = ((), *((one,) for one in Padding), tuple(Padding))
SIZES = (1024, 2048, 4096)


def area_of(paddings: tuple[Padding, ...], target: Target) -> Area:
    choice = family_named("fdfm").choose({})
    return measure_area(choice, target, part="accelerator", paddings=paddings)


def areas(found: dict[tuple[tuple[Padding, ...], Target], Area]) -> str:
    """A row for each build, and what it has more than the one without padding."""
    rows = []
    for target in (Target.XC7, Target.ECP5):
        plain = found[(), target]
        for paddings in BUILDS:
            area = found[paddings, target]
            rows.append(
                (
                    target.value,
                    ", ".join(one.value for one in paddings) or "none",
                    *(thousands(area.lut), thousands(area.ff), f"{area.bram:g}"),
                    *(thousands(area.lut - plain.lut), thousands(area.ff - plain.ff)),
                )
            )
    return table(
        ["target", "paddings", "LUTs", "flip-flops", "block RAM", "LUTs more", "flip-flops more"],
        rows,
    )


def clocks() -> str:
    """The accelerator placed and routed, without padding and with all of it."""
    choice = family_named("fdfm").choose({})
    rows = []
    for paddings in (BUILDS[0], BUILDS[-1]):
        area = measure_area(
            *(choice, Target.ECP5), part="accelerator", route=True, paddings=paddings
        )
        names = ", ".join(one.value for one in paddings) or "none"
        rows.append((names, area.device, thousands(area.lut), f"{area.fmax_mhz:.1f}"))
    return table(["paddings", "device", "LUTs", "MHz"], rows)


def parts() -> str:
    """The unit with everything for 2176 bits, and its hash unit, mapped by themselves."""
    rows = []
    for name, component in (
        ("padding unit", PaddingUnit(Task, 2176)),
        ("of it SHA-256", Sha256()),
    ):
        verilog = to_verilog(component, "coprime_part")
        for target in (Target.XC7, Target.ECP5):
            area = map_design(target, verilog, "coprime_part")
            used = (thousands(area.lut), thousands(area.lutram), thousands(area.ff))
            rows.append((name, target.value, *used, f"{area.bram:g}"))
    return table(["part", "target", "LUTs", "as memory", "flip-flops", "block RAM"], rows)


def cycles_of(task: Task, bits: int) -> int:
    """Cycles of a task; of an encryption with a message of 32 bytes and no zero drawn."""
    generator = random.Random(1)
    size = bytes_of(bits)
    length = size if task.decodes else 32
    own = PaddingUnitModel(
        bits,
        length,
        salt_length=32,
        options=frozenset({Option.DIGEST_INFO}),
        random=lambda: generator.randrange(1, 256),
    )
    own.input, own.output = bytearray(generator.randbytes(size)), bytearray(size)
    own.slots[Slot.SECRET][:] = generator.randbytes(32)
    own.run(task)
    return own.cycles


def cycles() -> str:
    rows = [(task.name, *(thousands(cycles_of(task, bits)) for bits in SIZES)) for task in Task]
    return table(["what the unit does", *(f"{bits} bits" for bits in SIZES)], rows)


def measure() -> str:
    """Write the tables of docs/padding.md, and that of the parts in docs/results.md."""
    found = {
        (paddings, target): area_of(paddings, target)
        for paddings in BUILDS
        for target in (Target.XC7, Target.ECP5)
    }
    replace_part(PAGE, "padding area", areas(found))
    replace_part(PAGE, "padding clock", clocks())
    replace_part(APPENDIX, "padding parts", parts())
    replace_part(PAGE, "padding cycles", cycles())
    return ""
