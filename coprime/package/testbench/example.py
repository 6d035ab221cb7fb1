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


def files(description: Description, cells: str | None) -> Mapping[str, str]:
    """The example; `cells` are the models of the target's cells, if it has any."""
    example = description.kind.example(description)
    bus, master = _MASTERS[description.bus]
    return {
        NAME: filled(
            example.template,
            own=description,
            used=example.used,
            seeding=_SEEDING if description.seeded else (),
            seed_words=SEED_LEAST,
            bus=bus,
            master=master,
            identification=RegisterChecks(description.kind.selected(description)).identification,
            longest=LONGEST,
            # Twice the engine's time, and room for the conversions of a short operation.
            timeout=int(2 * example.cycles * _CYCLE_US) + 1000,
            sources=[
                f"../{description.verilog}",
                *([cells] if cells else []),
                *(["noise_model.v"] if description.trng and not description.noise_ports else []),
            ],
            noise_samples=description.noise_samples,
            **example.values,
        )
    }
