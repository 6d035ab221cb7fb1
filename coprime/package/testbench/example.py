"""The cocotb example of a package: a command or two over a bus master that we did not write."""

from collections.abc import Mapping

from coprime.bus.kinds import Bus
from coprime.random.programs import SEED_LEAST

from ..description import Description
from ..templates import filled
from .register_checks import RegisterChecks

NAME = "sim/cocotb_example.py"
LONGEST = 100_000
"""Cycles of an operation that Icarus Verilog simulates in less than a minute under cocotb."""
_SEEDING = ("RANDOM_SEED", "RANDOM_CONTROL")  # registers that seed a source
_CYCLE_US = 0.01  # of the example's clock
_MASTERS = {Bus.AXI4_LITE: ("AxiLiteBus", "AxiLiteMaster"), Bus.AXI4: ("AxiBus", "AxiMaster")}


def files(own: Description, cells: str | None) -> Mapping[str, str]:
    """The example; `cells` are the models of the target's cells, if it has any."""
    example = own.kind.example(own)
    bus, master = _MASTERS[own.bus]
    return {
        NAME: filled(
            example.template,
            own=own,
            used=example.used,
            seeding=_SEEDING if own.seeded else (),
            seed_words=SEED_LEAST,
            bus=bus,
            master=master,
            identification=RegisterChecks(own.kind.selected(own)).identification,
            longest=LONGEST,
            # Twice the engine's time, and room for the conversions of a short operation.
            timeout=int(2 * example.cycles * _CYCLE_US) + 1000,
            sources=[
                f"../{own.verilog}",
                *([cells] if cells else []),
                *(["noise_model.v"] if own.trng and not own.noise_ports else []),
            ],
            noise_samples=own.noise_samples,
            **example.values,
        )
    }
