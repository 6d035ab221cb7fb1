"""The design as a FuseSoC core."""

import json
from collections.abc import Mapping

from coprime.cells.target import Target

from .description import Description
from .lint import waiver_files
from .templates import filled
from .testbench.folder import VERILATOR_OPTIONS, simulation_sources, top_module

_VENDOR_CELLS = "-Wno-MODMISSING"  # which Verilator has no models of


def files(description: Description) -> Mapping[str, str]:
    """The design as a FuseSoC core file (CAPI2), with targets that lint and simulate it."""
    vendor = () if description.target is Target.GENERIC else (_VENDOR_CELLS,)
    model = (f"-D{description.noise_model}",) if description.trng else ()
    waivers, _ = waiver_files(description)
    text = filled(
        "fusesoc.core.j2",
        own=description,
        summary=json.dumps(description.summary),
        waivers=waivers,
        lint=(*vendor, *model),
        simulation=simulation_sources(description),
        testbench=top_module(description),
        icarus=("-g2005", *model),
        verilator=(*VERILATOR_OPTIONS, *model),
    )
    return {f"{description.name}.core": text}
