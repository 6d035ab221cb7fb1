"""Kinds of what the cache keeps."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class CacheKind:
    """A kind of entries: what they are, and what is being done while one is built."""

    summary: str
    work: str


KINDS: Mapping[str, CacheKind] = {
    "verilog": CacheKind("Verilog of simulated designs", "keeping the Verilog"),
    "simulation": CacheKind("compiled simulations", "compiling the simulation with Verilator"),
    "verilated": CacheKind("what simulations have in common", "compiling Verilator's own sources"),
    "bitsliced": CacheKind("compiled simulations of many runs", "compiling many runs at once"),
    "registers": CacheKind("designs with visible registers", "making the registers visible"),
    "mapping": CacheKind("designs mapped by Yosys", "mapping the design with Yosys"),
    "routing": CacheKind(
        "designs placed and routed", "placing and routing the design with nextpnr"
    ),
    "bitstream": CacheKind("bitstreams", "placing and routing the bitstream with nextpnr"),
    "unit_gate": CacheKind("areas in unit gates", "mapping the design to unit gates with Yosys"),
    "token": CacheKind("the PKCS #11 module", "compiling the PKCS #11 module"),
    "firmware": CacheKind("firmware for RISC-V", "compiling the firmware"),
    "run": CacheKind("simulated operations of sweeps", "simulating"),
    "faults": CacheKind("runs with faults", "keeping runs with faults"),
    "measurement": CacheKind("measurements of sweeps", "measuring"),
    "prediction": CacheKind("predicted cycles on curves", "predicting cycles"),
}
"""What is kept, by the name of its folder."""
