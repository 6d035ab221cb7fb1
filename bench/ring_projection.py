"""How many accelerators of `ring` a large device would hold, and what they would do: a projection.

`python -m bench.ring_projection` writes the table of results.md. Area and cycles are those of the
measurements that come with Coprime (accelerators with AXI4-Lite, mapped for 7 series); the clocks
are assumed, and nothing of this was placed. The device has the resources of a VU9P.
"""

from dataclasses import dataclass

from coprime.explore.points import Point
from coprime.explore.shipped import shipped_points

from .page import replace_part, table, thousands

BITS = 2048
CLOCKS_MHZ = (200, 300)
"""Assumed."""
USABLE = 0.7
"""Part of the LUTs that is assumed to be placed and routed."""


@dataclass(frozen=True)
class Device:
    lut: int
    dsp: int
    bram: int
    """Block RAMs of 36 Kbit."""

    def limits(self, point: Point) -> dict[str, int]:
        """How many of a design each resource is enough for."""
        return {
            "DSP": int(self.dsp / point.dsp),
            "LUT": int(USABLE * self.lut / point.lut),
            "block RAM": int(self.bram / point.bram),
        }


VU9P = Device(lut=1_182_240, dsp=6_840, bram=2_160)


def points() -> list[Point]:
    return [
        point
        for point in shipped_points()
        if (point.family, point.target, point.part) == ("ring", "xc7", "accelerator")
        and (point.bits, point.operation) == (BITS, "RSA_PRIVATE")
    ]


def row(point: Point) -> list[str]:
    limits = VU9P.limits(point)
    scarce = min(limits, key=limits.__getitem__)
    count, cycles = limits[scarce], point.predicted_cycles
    name = "{multipliers} × {tiles} `{tile}`".format(**point.parameters)
    sizes = (point.dsp, thousands(point.lut), f"{point.bram:g}")
    figures = (*sizes, thousands(cycles), thousands(count))
    rates = (thousands(round(count * clock * 1_000_000 / cycles, -2)) for clock in CLOCKS_MHZ)
    return [name, *map(str, figures), scarce, *(rate.removesuffix(".0") for rate in rates)]


def projection() -> str:
    head = ["design", "DSP", "LUT", "block RAM", "cycles", "accelerators", "limited by"]
    head += [f"per second at {clock} MHz" for clock in CLOCKS_MHZ]
    return table(head, [row(point) for point in sorted(points(), key=lambda one: one.dsp)])


def main() -> None:
    replace_part("results.md", "projection", projection())


if __name__ == "__main__":
    main()
