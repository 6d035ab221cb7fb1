"""Add an accelerator to a LiteX system: its registers on the bus, its interrupt at the processor.

Needs the Python package litex, which is not among those that this one demands.
"""

from collections.abc import Collection
from pathlib import Path
from types import SimpleNamespace

from litex.gen import LiteXModule
from litex.soc.integration.soc import LiteXSoC, SoCRegion
from litex.soc.interconnect import stream
from litex.soc.interconnect.axi import AXILiteInterface
from migen import ClockSignal, Instance, ResetSignal, Signal

from coprime.bus.axi4_lite import PREFIX
from coprime.bus.axi_accelerator import RANDOM
from coprime.bus.port import WINDOW_BITS
from coprime.catalog import CallChoice, Choice, takes_stream
from coprime.cells.target import Target
from coprime.device.base import ADDRESS_SPACE
from coprime.package.package import write_package
from coprime.padding.scheme import Padding

__all__ = ["LiteXAccelerator", "add_accelerator"]


class LiteXAccelerator(LiteXModule):
    """An instance of the accelerator that `coprime build` writes, in the clock domain `sys`.

    Parameters
    ----------
    choice (Choice or CallChoice)
    paddings : those that the hardware makes and removes

    Attributes
    ----------
    bus (AXILiteInterface): its slave
    ev (object with the signal `irq`): where LiteX looks for a module's interrupt. Its enable and
        status are registers of the accelerator, not LiteX's.
    random (stream.Endpoint): only with paddings or blinding, or where calls draw inputs: random
        bytes in its `data`, of which each one is used once
    """

    def __init__(self, choice: Choice | CallChoice, paddings: Collection[Padding] = ()):
        self.bus = bus = AXILiteInterface(data_width=32, address_width=32)
        self.ev = SimpleNamespace(irq=Signal())
        ports = {
            f"i_{PREFIX}aclk": ClockSignal("sys"),
            f"i_{PREFIX}aresetn": ~ResetSignal("sys"),
            "o_irq": self.ev.irq,
        }
        for channel, endpoint, payload, there, back in (
            ("aw", bus.aw, ("addr", "prot"), "i", "o"),
            ("w", bus.w, ("data", "strb"), "i", "o"),
            ("b", bus.b, ("resp",), "o", "i"),
            ("ar", bus.ar, ("addr", "prot"), "i", "o"),
            ("r", bus.r, ("data", "resp"), "o", "i"),
        ):
            ports[f"{there}_{PREFIX}{channel}valid"] = endpoint.valid
            ports[f"{back}_{PREFIX}{channel}ready"] = endpoint.ready
            for name in payload:
                signal = getattr(endpoint, name)
                within = signal[:WINDOW_BITS] if name == "addr" else signal
                ports[f"{there}_{PREFIX}{channel}{name}"] = within
        if takes_stream(choice, paddings):
            self.random = random = stream.Endpoint([("data", 8)])
            ports[f"i_{RANDOM}tdata"] = random.data
            ports[f"i_{RANDOM}tvalid"] = random.valid
            ports[f"o_{RANDOM}tready"] = random.ready
        self.specials += Instance(choice.module_name, **ports)


def add_accelerator(
    soc: LiteXSoC,
    choice: Choice | CallChoice,
    folder: Path,
    *,
    name: str = "coprime",
    origin: int | None = None,
    target: Target = Target.GENERIC,
    paddings: Collection[Padding] = (),
) -> LiteXAccelerator:
    """Add an accelerator to a system, and its Verilog to the system's platform.

    The system's `csr.h` and `mem.h` define the registers' address as NAME_BASE, and its `soc.h`
    the interrupt's number as NAME_INTERRUPT.

    Parameters
    ----------
    soc (LiteXSoC): with any bus; LiteX puts an adapter before AXI4-Lite
    choice (Choice or CallChoice): the accelerator: `choose` or `choose_calls` of
        `coprime.catalog`
    folder (path): where its Verilog and its C header are written to
    name (str): of the region, the interrupt and the submodule
    origin (int, optional): address of the registers, a multiple of 4096 where the processor does
        not cache; None is where LiteX finds room
    target (Target)
    paddings (collection of Padding): in hardware. A source of random bytes then belongs at the
        accelerator's `random`, as with an engine that blinds.
    """
    verilog, *_ = write_package(choice, target, folder, paddings=paddings)
    soc.platform.add_source(str(verilog))
    accelerator = LiteXAccelerator(choice, paddings)
    soc.add_module(name=name, module=accelerator)
    region = SoCRegion(origin=origin, size=ADDRESS_SPACE, cached=False)
    soc.bus.add_slave(name=name, slave=accelerator.bus, region=region)
    if soc.irq.enabled:
        soc.irq.add(name, use_loc_if_exists=True)
    return accelerator
