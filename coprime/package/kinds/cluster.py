"""A cluster: engines of numbers on a chain, behind registers of its own."""

from collections.abc import Mapping, Sequence

from coprime.bus import cluster_registers
from coprime.bus.kinds import Bus
from coprime.bus.register_classes import Register
from coprime.bus.shared_registers import defined_cluster_registers
from coprime.catalog import CLUSTER, CLUSTER_PARAMETERS, ClusterChoice
from coprime.cells.target import Target
from coprime.flow.parts import cluster_verilog
from coprime.parameters import AnyParameter

from ..description import C_HEADER, Description, Example, TestbenchParts
from ..testbench.number_bench import number_bench
from ..testbench.number_example import number_example
from .numbers import NumberKind

_HEADER = "coprime_cluster_registers.h"


class ClusterKind(NumberKind):
    """A cluster of engines of numbers.

    Parameters
    ----------
    cluster : the cores, and how many
    """

    part = CLUSTER
    parts: tuple[str, ...] = (CLUSTER,)
    headers: tuple[str, ...] = (_HEADER, C_HEADER)
    software = "software_cluster.md.j2"
    not_drivers: tuple[str, ...] = ("_calls", "_call_cores", "_ml_kem", "_ml_dsa")
    sheet = "cluster_sheet.toml.j2"

    def __init__(self, cluster: ClusterChoice):
        super().__init__(cluster.core)
        self.cluster = cluster
        self.cores = cluster.cores

    @property
    def summary(self) -> str:
        """That of the cores' family, and how many they are."""
        return f"{self.cores} engines on a chain: {super().summary}"

    @property
    def registers(self) -> tuple[Register, ...]:
        """Those of a cluster."""
        return defined_cluster_registers(self.engine)

    @property
    def values(self) -> Mapping[str, Mapping[str, int]]:
        """Those that identify a core, and the number of cores."""
        return {**super().values, cluster_registers.CORES.name: {"COUNT": self.cores}}

    @property
    def parameters(self) -> Sequence[AnyParameter]:
        """Those of the cluster, and those of its cores."""
        return [*CLUSTER_PARAMETERS, *super().parameters]

    def verilog(self, target: Target, bus: Bus) -> str:
        """The cluster."""
        return cluster_verilog(self.cluster, target, bus)

    def diagrams(self, bus: Bus) -> list[str]:
        """Of accesses."""
        return ["burst_read"] if bus is Bus.AXI4 else ["write", "read"]

    def longest(self, register: Register) -> int:
        """The engine's longest modulus, or prime."""
        primes = register.name in ("P_LENGTH", "Q_LENGTH")
        return self.engine.max_prime_length if primes else self.engine.max_length

    def bench(self, description: Description) -> TestbenchParts:
        """Operations on two of the cores, an error of each kind, WIPE and a reset."""
        return number_bench(description, "lean_cluster" if self.engine.bare else CLUSTER)

    def example(self, description: Description) -> Example:
        """An operation of RSA on a core, and one on P-256."""
        return number_example(description, "cluster_example.py.j2")
