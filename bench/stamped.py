"""Clusters that fill an LFE5U-85F, stamped: the tables of docs/stamping.md.

    python -m bench.stamped                  all of them, which takes hours
    python -m bench.stamped fdfm bal50       some; the tables of the others stay

Rectangles, clocks and cycles are those of `coprime synth cluster -p ... --route --stamp`.
"""

import resource
import sys
from collections.abc import Mapping

from coprime.catalog import ClusterChoice, choose
from coprime.cells.target import Target
from coprime.engine.contract import Command
from coprime.flow.parts import measured_verilog
from coprime.flow.stamping.stamp import StampedDesign, stamp_design
from coprime.runs.execution import predict_operation
from coprime.runs.numbers import EXPONENTS, random_operands

from .page import replace_part, table

PAGE = "stamping.md"
DEVICE = "LFE5U-85F"
SEEDS = (1, 2, 3, 4)  # of each rectangle
CLUSTERS: Mapping[str, Mapping[str, str | int]] = {
    "fdfm": {"engine": "fdfm", "max_bits": 2048, "cores": 52},
    "fdfm 512": {"engine": "fdfm", "max_bits": 512, "cores": 39},
    "compact": {"engine": "compact", "max_bits": 2048, "cores": 26},
    "bal50": {"engine": "ring", "tile": "bal50", "max_bits": 2048, "cores": 12},
    "kara95": {"engine": "ring", "tile": "kara95", "max_bits": 2048, "cores": 6},
}
"""Each has a register on every link."""


def measure(name: str) -> str:
    """Stamp one of the clusters; its tables."""
    choice = choose("cluster", {**CLUSTERS[name], "link_registers": 1})
    assert isinstance(choice, ClusterChoice)
    verilog, top, repeated = measured_verilog(choice, "", Target.ECP5)
    done = stamp_design(verilog, top, repeated=repeated, device=DEVICE, seeds=SEEDS)
    minutes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime / 60
    fastest = max(max(clocks.values()) for key, clocks in _of_nodes(done).items())
    rows = [
        (
            done.rectangles.get(key, ""),
            key,
            ", ".join(f"{seed}: {mhz:.1f}" for seed, mhz in clocks.items()),
        )
        for key, clocks in done.block_mhz.items()
    ]
    text = table(("copies", "nodes and rectangle", "MHz by seed"), rows)
    text += f"\n{choice.cores} cores: **{done.fmax_mhz:.1f} MHz**, "
    text += f"{done.fmax_mhz / fastest:.3f} of a node by itself. "
    text += f"{done.routed:,} nets kept their routes, {done.left:,} were routed at the end; "
    text += f"{minutes:.0f} minutes of processor time, or less if part of it was kept.\n\n"
    return text + _throughput(choice, done.fmax_mhz)


def _of_nodes(done: StampedDesign) -> dict[str, Mapping[int, float]]:
    return {key: clocks for key, clocks in done.block_mhz.items() if key in done.rectangles}


def _throughput(choice: ClusterChoice, mhz: float) -> str:
    """Private operations a second, by the cycles that are predicted for one."""
    design = choice.core.design
    bits, command = design.capabilities.max_length, Command.RSA_PRIVATE
    kinds = EXPONENTS[:1] if design.capabilities.constant_time else EXPONENTS
    rows = []
    for kind in kinds:
        operands = random_operands(
            command, bits, 1, exponents=kind, checked=design.capabilities.checked
        )
        cycles = predict_operation(design, command, operands).cycles
        exponents = "any" if len(kinds) == 1 else kind
        rows.append((bits, exponents, f"{cycles:,}", f"{choice.cores * mhz * 1e6 / cycles:,.0f}"))
    return table(("bits", "exponents", "cycles of RSA_PRIVATE", "a second, all cores"), rows)


def main(names: list[str]) -> None:
    """Measure those clusters, or all."""
    for name in names or CLUSTERS:
        replace_part(PAGE, f"stamped {name}", measure(name))
        print(f"wrote {name} in {PAGE}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
