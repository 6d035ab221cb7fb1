"""The design as a FuseSoC core."""

import json
from collections.abc import Mapping

from coprime.cells.target import Target

from .description import Description
from .lint import waiver_files
from .templates import filled
from .testbench.folder import VERILATOR_OPTIONS, simulation_sources, top_module

_VENDOR_CELLS = "-Wno-MODMISSING"  # which Verilator has no models of


def files(own: Description) -> Mapping[str, str]:
    """The design as a FuseSoC core file (CAPI2), with targets that lint and simulate it."""
    vendor = () if own.target is Target.GENERIC else (_VENDOR_CELLS,)
    model = (f"-D{own.noise_model}",) if own.trng else ()
    waivers, _ = waiver_files(own)
    text = filled(
        "fusesoc.core.j2",
        own=own,
        summary=json.dumps(own.summary),
        waivers=waivers,
        lint=(*vendor, *model),
        simulation=simulation_sources(own),
        testbench=top_module(own),
        icarus=("-g2005", *model),
        verilator=(*VERILATOR_OPTIONS, *model),
    )
    return {f"{own.name}.core": text}
