"""What a lean node leaves out, part by part: each variant of a node mapped by itself."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from amaranth.lib import wiring

from coprime.catalog import choose
from coprime.cells.target import Target
from coprime.cluster.chain import chain_node
from coprime.engine.design import EngineDesign
from coprime.flow.mapping import map_design
from coprime.multipliers.fdfm import FdfmMultiplier
from coprime.operations.commands import Command

from .page import replace_part, table, thousands

CORES = 320


def variants() -> Iterator[tuple[str, wiring.Component]]:
    """Nodes from the full one to the lean one, and the engines in them."""
    full, lean = (
        choose("cluster", {"cores": str(CORES), "node": node}).core.design
        for node in ("full", "lean")
    )
    assert isinstance(full, EngineDesign) and isinstance(lean, EngineDesign)
    capabilities = full.capabilities
    required = {Command.RSA_PRIVATE: capabilities.required[Command.RSA_PRIVATE]}
    private = replace(full, capabilities=replace(capabilities, required=required))
    usual = replace(lean, make_multiplier=partial(FdfmMultiplier, capabilities.count_bits))
    yield "full node", node_of(full)
    yield "... with RSA_PRIVATE alone", node_of(private)
    yield "lean node with the multiplier as in a full one", node_of(usual)
    yield "lean node", node_of(lean)


def node_of(design: EngineDesign) -> wiring.Component:
    return chain_node(design.hardware(Target.XC7), CORES)


def measure() -> str:
    rows = []
    for name, node in variants():
        area = map_design(Target.XC7, node, "coprime_node")
        rows.append((name, area.lut, area.ff, area.lutram, thousands(CORES * area.lut)))
    head = ["", "LUTs", "flip-flops", "LUTs as shift registers", f"LUTs of {CORES}"]
    return table(head, rows)


def main() -> None:
    replace_part("cluster.md", "lean nodes", measure())


if __name__ == "__main__":
    main()
