"""What the parts of the page have in common."""

from collections.abc import Iterable, Sequence

from coprime.explore.measure import Area

__all__ = ["area_table", "table", "thousands"]


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---:|" * len(head)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def thousands(value: int) -> str:
    return f"{value:,}"


def area_table(areas: Iterable[Area]) -> str:
    head = ["device", "part", "LUTs", "as memory", "flip-flops", "carry cells", "DSP", "block RAM"]
    rows = [
        (
            *(area.device, area.part, area.lut, area.lutram, area.ff, area.carry, area.dsp),
            *(f"{area.bram:g}", area.slices_estimate),
            f"{area.fmax_mhz:.1f}" if area.fmax_mhz else "",
        )
        for area in areas
    ]
    return table([*head, "slices at least", "MHz"], rows)
