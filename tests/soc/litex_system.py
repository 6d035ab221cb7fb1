"""Makes a LiteX system with an accelerator, as its user would.

litex_system.py FAMILY FOLDER [PADDING ...]

Writes litex.v to the folder, and addresses and interrupt to litex.json. It runs in a process of its
own, since LiteX keeps its names in global variables and logs to the terminal.
"""

import contextlib
import json
import sys
from pathlib import Path

from litex.build.generic_platform import Pins, Subsignal
from litex.build.sim import SimPlatform
from litex.gen import LiteXModule
from litex.soc.integration.soc_core import SoCCore
from migen import ClockDomain

from coprime.catalog import choose
from coprime.padding.scheme import parse_paddings
from coprime.soc.litex import add_accelerator

MEMORY = 1 << 16
CLOCK = 100_000_000
DIVISOR = 4


class Clock(LiteXModule):
    def __init__(self, platform):
        self.cd_sys = ClockDomain()
        self.comb += [
            self.cd_sys.clk.eq(platform.request("clk")),
            self.cd_sys.rst.eq(platform.request("rst")),
        ]


class System(SoCCore):
    # The firmware lies at address 0, where the processor starts.
    mem_map = {**SoCCore.mem_map, "main_ram": 0}


def main(family, folder, *paddings):
    serial = (Subsignal("tx", Pins(1)), Subsignal("rx", Pins(1)))
    platform = SimPlatform(
        "SIM", [("clk", 0, Pins(1)), ("rst", 0, Pins(1)), ("serial", 0, *serial)]
    )
    soc = System(
        platform,
        CLOCK,
        cpu_type="picorv32",
        cpu_reset_address=0,
        integrated_sram_size=0,
        integrated_main_ram_size=MEMORY,
        uart_baudrate=CLOCK // DIVISOR,
    )
    soc.crg = Clock(platform)
    paddings = parse_paddings(paddings)
    accelerator = add_accelerator(soc, choose(family, {}), folder, paddings=paddings)
    if paddings:  # bytes that everybody knows, in place of random ones
        soc.comb += accelerator.random.valid.eq(1)
        soc.sync += accelerator.random.data.eq(accelerator.random.data + 1)
    soc.finalize()
    with contextlib.chdir(folder):  # LiteX writes more files than this one, here
        platform.get_verilog(soc, name="litex_system").write("litex.v")
    found = {
        "accelerator": soc.bus.regions["coprime"].origin,
        "interrupt": soc.irq.locs["coprime"],
        "uart": soc.csr.regions["uart"].origin,
        "sources": [source[0] for source in platform.sources],
    }
    (folder / "litex.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:])
