"""Write the timing diagrams of packages from a simulation, or check that they are up to date.

Each diagram is what Amaranth's simulator shows at the ports of an accelerator: its front end, its
engine and its slave on the bus, with a master that is always ready. It is written to
coprime/package/timing/ as WaveDrom's JSON, and as the SVG that WaveDrom renders. Rendering needs
Node.js with npm, which fetches WaveDrom; the check needs neither.
"""

import argparse
import hashlib
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from amaranth.hdl import ClockDomain, Elaboratable, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import connect
from amaranth.sim import Simulator

from coprime.bus import registers
from coprime.bus.axi4 import AXI4
from coprime.bus.axi4_lite import AXI4Lite
from coprime.bus.front_end import FrontEnd
from coprime.bus.kinds import Bus
from coprime.catalog import family_named
from coprime.device.accelerator import Accelerator, EngineError
from coprime.engine.contract import Command, Operand
from coprime.engine.design import Design
from coprime.package.timing import DIAGRAMS, FOLDER
from coprime.rsa import keys
from coprime.runs.execution import Identity

ROOT = Path(__file__).parent.parent / "coprime" / "package"
WAVEDROM = "wavedrom@3.7.0"
_RENDER = """
const wavedrom = require("wavedrom"), onml = require("onml");
const source = JSON.parse(require("fs").readFileSync(0, "utf8"));
process.stdout.write(onml.stringify(wavedrom.renderAny(0, source, wavedrom.waveSkin)));
"""
_WRITE = ("awaddr", "awvalid", "awready", "wdata", "wstrb", "wvalid", "wready")
_ANSWER = ("bresp", "bvalid", "bready")
_READ = ("araddr", "arvalid", "arready", "rdata", "rresp", "rvalid", "rready")
_LONGEST = 6
"""Equal cycles that are drawn; of more, the middle ones are cut out."""

Driver = Callable[["Bench", Any], Coroutine[Any, Any, None]]


# --- The hardware -------------------------------------------------------------------------------


class Device(wiring.Component):
    """An accelerator whose clock is the simulator's: front end, engine and slave.

    Parameters
    ----------
    design: of the engine
    bus: the slave's
    """

    def __init__(self, design: Design, bus: Bus):
        self.engine = design.hardware()
        self.front_end = FrontEnd(design.capabilities)
        self.slave = AXI4() if bus is Bus.AXI4 else AXI4Lite()
        self.aresetn = Signal(init=1)
        super().__init__({})

    def elaborate(self, platform: object) -> Elaboratable:
        """Connect the parts as `coprime.bus.axi_accelerator.Accelerator` does."""
        m = Module()
        m.domains.sync = sync = ClockDomain()
        m.d.comb += sync.rst.eq(~self.aresetn)
        m.submodules.engine = self.engine
        m.submodules.front_end = self.front_end
        m.submodules.slave = self.slave
        connect(m, self.front_end.engine, self.engine)
        connect(m, self.slave.registers, self.front_end.registers)
        return m


class Writes(Identity):
    """Keeps what the driver writes."""

    def __init__(self, design: Design):
        super().__init__(design.capabilities)
        self.written: list[tuple[int, int]] = []

    def write32(self, address: int, value: int) -> None:
        """Keep a write."""
        self.written.append((address, value))


def writes_before(design: Design, command: Command) -> list[tuple[int, int]]:
    """What the driver writes up to the command, which is the last one."""
    device = Writes(design)
    accelerator = Accelerator(device)
    if command is Command.RSA_PRIVATE:
        accelerator.load_private(keys.generate(128, seed=1))
        with suppress(EngineError):  # there is no result
            accelerator.private(2)
    else:
        accelerator.modmul(3, 5, (1 << 64) - 59)
    places = [place for place, _ in device.written]
    return device.written[: places.index(registers.COMMAND.address) + 1]


@dataclass
class Bench:
    """Drives the bus as a master that is always ready, and samples ports in every cycle.

    Parameters
    ----------
    device : the hardware
    samples : the ports' values in each cycle so far
    """

    device: Device
    samples: list[dict[str, int]] = field(default_factory=list)

    @property
    def ports(self) -> dict[str, Any]:
        """Signals by the names that they have at the accelerator's ports."""
        axi = self.device.slave.axi
        front_end = self.device.front_end
        found = {f"s_axi_{name}": getattr(axi, name) for name in axi.signature.members}
        found |= {"s_axi_aresetn": self.device.aresetn, "irq": front_end.irq}
        if front_end.draws:
            found |= {
                "s_axis_random_tdata": front_end.random.payload,
                "s_axis_random_tvalid": front_end.random.valid,
                "s_axis_random_tready": front_end.random.ready,
            }
        return found

    def set(self, ctx: Any, **values: int) -> None:
        """Set inputs of the slave."""
        for name, value in values.items():
            ctx.set(getattr(self.device.slave.axi, name), value)

    async def tick(self, ctx: Any, count: int = 1) -> dict[str, int]:
        """Let cycles pass; give the ports' values in the last one."""
        for _ in range(count):
            values = {name: int(ctx.get(signal)) for name, signal in self.ports.items()}
            self.samples.append(values)
            await ctx.tick()
        return values

    async def write(self, ctx: Any, address: int, *words: int) -> None:
        """Write words, more than one as a burst, and wait for the answer."""
        ports: dict[str, int] = {"awaddr": address, "awvalid": 1, "bready": 1}
        if isinstance(self.device.slave, AXI4):
            ports |= {"awid": 1, "awlen": len(words) - 1, "awsize": 2, "awburst": 1}
        self.set(ctx, **ports)
        left = list(words)
        while True:
            if left:
                self.set(ctx, wdata=left[0], wstrb=15, wvalid=1)
                if isinstance(self.device.slave, AXI4):
                    self.set(ctx, wlast=len(left) == 1)
            seen = await self.tick(ctx)
            if seen["s_axi_awvalid"] and seen["s_axi_awready"]:
                self.set(ctx, awvalid=0)
            if seen["s_axi_wvalid"] and seen["s_axi_wready"]:
                left.pop(0)
                if not left:
                    self.set(ctx, wvalid=0)
            if seen["s_axi_bvalid"]:
                self.set(ctx, bready=0)
                return

    async def read(self, ctx: Any, address: int, count: int = 1) -> None:
        """Read words, more than one as a burst."""
        ports = {"araddr": address, "arvalid": 1, "rready": 1}
        if isinstance(self.device.slave, AXI4):
            ports |= {"arid": 1, "arlen": count - 1, "arsize": 2, "arburst": 1}
        self.set(ctx, **ports)
        while count:
            seen = await self.tick(ctx)
            if seen["s_axi_arvalid"] and seen["s_axi_arready"]:
                self.set(ctx, arvalid=0)
            count -= seen["s_axi_rvalid"]
        self.set(ctx, rready=0)

    def start(self) -> None:
        """Forget the cycles so far: the diagram begins here."""
        self.samples.clear()


# --- What happens in each diagram ---------------------------------------------------------------


async def _write(bench: Bench, ctx: Any) -> None:
    await bench.tick(ctx)
    await bench.write(ctx, registers.INTERRUPT_ENABLE.address, 1)
    await bench.tick(ctx)


async def _read(bench: Bench, ctx: Any) -> None:
    await bench.tick(ctx)
    await bench.read(ctx, registers.IDENTIFICATION.address)
    await bench.tick(ctx)


async def _wait(bench: Bench, ctx: Any) -> None:
    await bench.write(ctx, registers.MODULUS_LENGTH.address, 64)
    await bench.write(ctx, registers.KEY_OPERAND.address, Operand.M)
    await bench.tick(ctx, 4)
    bench.start()
    await bench.tick(ctx)
    await bench.write(ctx, registers.KEY_DATA.address, 0xFFFFFFC5)
    await bench.write(ctx, registers.KEY_DATA.address, 0xFFFFFFFF)
    await bench.tick(ctx)


async def _reset(bench: Bench, ctx: Any) -> None:
    await bench.tick(ctx)
    ctx.set(bench.device.aresetn, 0)
    await bench.tick(ctx)
    ctx.set(bench.device.aresetn, 1)
    await bench.read(ctx, registers.STATUS.address)
    await bench.tick(ctx)


async def _command(bench: Bench, ctx: Any) -> None:
    *before, (address, command) = writes_before(family_named("fdfm").choose(_SMALL).design, _MODMUL)
    for place, word in before:
        await bench.write(ctx, place, word)
    bench.start()
    await bench.tick(ctx)
    await bench.write(ctx, address, command)
    while not ctx.get(bench.device.front_end.irq):
        await bench.tick(ctx)
    await bench.tick(ctx)
    await bench.write(ctx, registers.INTERRUPT_STATUS.address, 1)
    await bench.tick(ctx, 2)


async def _burst_write(bench: Bench, ctx: Any) -> None:
    await bench.tick(ctx)
    await bench.write(ctx, registers.INPUT_WINDOW.address, 0x11111111, 0x22222222, 0x33333333)
    await bench.tick(ctx)


async def _burst_read(bench: Bench, ctx: Any) -> None:
    await bench.tick(ctx)
    await bench.read(ctx, registers.DIGITS.address, 3)
    await bench.tick(ctx)


async def _random(bench: Bench, ctx: Any) -> None:
    """The first bytes of a blinded private operation; the second one comes late."""
    design = family_named("compact").choose(_BLINDED).design
    for place, word in writes_before(design, Command.RSA_PRIVATE):
        await bench.write(ctx, place, word)
    random = bench.device.front_end.random
    while not ctx.get(random.ready):
        await bench.tick(ctx)
    bench.start()
    await bench.tick(ctx)
    for byte, pause in ((0x3A, 3), (0xC5, 0), (0x71, 1)):
        ctx.set(random.payload, byte)
        ctx.set(random.valid, 1)
        while not (await bench.tick(ctx))["s_axis_random_tready"]:
            pass
        ctx.set(random.valid, 0)
        await bench.tick(ctx, pause) if pause else None


_MODMUL = Command.MODMUL
_SMALL = {"max_bits": "64"}
_BLINDED = {"max_bits": "128", "blinding": "all"}


@dataclass(frozen=True)
class Scene:
    """What a diagram shows.

    Parameters
    ----------
    drive : what the master does
    groups : the ports that are drawn, without their prefix, by the heading of their group
    family, settings, bus : the accelerator
    """

    drive: Driver
    groups: Mapping[str, Sequence[str]]
    family: str = "fdfm"
    settings: Mapping[str, str] = field(default_factory=lambda: _SMALL)
    bus: Bus = Bus.AXI4_LITE


_BURST = ("awid", "awaddr", "awlen", "awburst", "awvalid", "awready")
_BEATS = ("wdata", "wlast", "wvalid", "wready")
_WRITES = {"write": _WRITE, "answer": _ANSWER}
SCENES: Mapping[str, Scene] = {
    "write": Scene(_write, _WRITES),
    "read": Scene(_read, {"read": _READ}),
    "wait": Scene(
        _wait, {"write": ("awaddr", "awvalid", "awready", *_WRITE[3:]), "answer": _ANSWER}
    ),
    "reset": Scene(_reset, {"": ("aresetn",), "read": _READ}, settings={"max_bits": "1024"}),
    "command": Scene(_command, {**_WRITES, "": ("irq",)}),
    "burst_write": Scene(
        _burst_write,
        {"address": _BURST, "data": _BEATS, "answer": ("bid", *_ANSWER)},
        bus=Bus.AXI4,
    ),
    "burst_read": Scene(
        _burst_read,
        {
            "address": ("arid", "araddr", "arlen", "arburst", "arvalid", "arready"),
            "data": ("rid", "rdata", "rresp", "rlast", "rvalid", "rready"),
        },
        bus=Bus.AXI4,
    ),
    "burst_command": Scene(
        _command,
        {"write": (*_WRITE[:5], "wlast", *_WRITE[5:]), "answer": _ANSWER, "": ("irq",)},
        bus=Bus.AXI4,
    ),
    "burst_reset": Scene(
        _reset,
        {"": ("aresetn",), "read": (*_READ[:5], "rlast", *_READ[5:])},
        settings={"max_bits": "1024"},
        bus=Bus.AXI4,
    ),
    "random": Scene(
        _random, {"": ("tdata", "tvalid", "tready")}, family="compact", settings=_BLINDED
    ),
}


def simulated(scene: Scene) -> list[dict[str, int]]:
    """The ports' values in each cycle that the diagram shows."""
    device = Device(family_named(scene.family).choose(dict(scene.settings)).design, scene.bus)
    bench = Bench(device)
    simulator = Simulator(device)
    simulator.add_clock(1e-6)

    async def drive(ctx: Any) -> None:
        await bench.tick(ctx, 80)  # the buffer is cleared after a reset
        bench.start()
        await scene.drive(bench, ctx)

    simulator.add_testbench(drive)
    simulator.run()
    return bench.samples


# --- Drawing ------------------------------------------------------------------------------------

_PAYLOADS = ("id", "addr", "len", "burst", "data", "strb", "resp", "last")
_VALID = {
    **{
        f"s_axi_{channel}{payload}": f"s_axi_{channel}valid"
        for channel in ("aw", "ar", "w", "b", "r")
        for payload in _PAYLOADS
    },
    "s_axis_random_tdata": "s_axis_random_tvalid",
}
"""A payload means something only while this is 1."""
_WIDE = {port for port in _VALID if not port.endswith("last")}
"""Ports of more than one bit."""
_RESPONSES = {0: "OKAY", 2: "SLVERR"}


def diagram(name: str) -> dict[str, Any]:
    """A diagram as WaveDrom's JSON, from a simulation."""
    scene = SCENES[name]
    samples = simulated(scene)
    prefix = "s_axis_random_" if name == "random" else "s_axi_"
    columns = list(_cut(samples, prefix, scene))
    lanes: list[Any] = [{"name": "s_axi_aclk", "wave": _clock(columns)}]
    for heading, ports in scene.groups.items():
        found = [
            _lane(port if port == "irq" else f"{prefix}{port}", samples, columns) for port in ports
        ]
        lanes += [[heading, *found]] if heading else found
    return {
        "signal": lanes,
        "head": {"text": DIAGRAMS[name].title},
        "config": {"hscale": 2},
    }


def _cut(samples: Sequence[dict[str, int]], prefix: str, scene: Scene) -> Iterator[int | None]:
    """The cycles that are drawn; None is where some are left out, in which nothing changes."""
    drawn = [
        port if port == "irq" else f"{prefix}{port}"
        for ports in scene.groups.values()
        for port in ports
    ]
    views = [[sample[port] for port in drawn] for sample in samples]
    begin = 0
    while begin < len(views):
        end = begin
        while end < len(views) and views[end] == views[begin]:
            end += 1
        if end - begin > _LONGEST:
            yield from (begin, begin + 1, None, end - 1)
        else:
            yield from range(begin, end)
        begin = end


def _clock(columns: Sequence[int | None]) -> str:
    return "p" + "".join("|" if cycle is None else "." for cycle in columns[1:])


def _lane(port: str, samples: Sequence[dict[str, int]], columns: Sequence[int | None]) -> Any:
    """A signal as WaveDrom draws it."""
    wave, labels = "", []
    shown: object = None
    wide = port in _WIDE
    for cycle in columns:
        if cycle is None:
            wave += "|"
            continue
        sample = samples[cycle]
        valid = _VALID.get(port)
        if valid is not None and not sample[valid]:
            value: object = "x"
        else:
            value = _label(port, sample[port]) if wide else str(sample[port])
        if value == shown:
            wave += "."
        elif value == "x":
            wave += "x"
        elif wide:
            wave += "="
            labels.append(value)
        else:
            wave += str(value)
        shown = value
    return {"name": port, "wave": wave, **({"data": labels} if labels else {})}


def _label(port: str, value: int) -> str:
    if port.endswith("addr"):
        return f"{value:03X}"
    if port.endswith("resp"):
        return _RESPONSES[value]
    if port.endswith("burst"):
        return ("FIXED", "INCR", "WRAP")[value]
    return f"{value:X}"


# --- Files --------------------------------------------------------------------------------------


def text_of(name: str) -> str:
    """The diagram's source."""
    return json.dumps(diagram(name), indent=2) + "\n"


def digest(text: str) -> str:
    """What a rendered diagram says of its source."""
    return hashlib.sha256(text.encode()).hexdigest()


def rendered(text: str, folder: Path) -> str:
    """The diagram as SVG by the WaveDrom in `folder`: on white, and with the source's digest."""
    done = subprocess.run(
        ["node", "-e", _RENDER],
        input=text,
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    used = set(re.findall(r'href="#([^"]+)"', done.stdout))

    def kept(shape: re.Match[str]) -> str:
        return shape[0] if shape[1] in used else ""

    # WaveDrom puts in every shape that it knows; a shape is a group of paths.
    pruned = re.sub(r'<g id="([^"]+)">(?:<path[^>]*/>)*</g>', kept, done.stdout)
    head, end, rest = pruned.partition(">")
    return (
        "<!-- SPDX-License-Identifier: Apache-2.0 -->\n"
        f"<!-- Rendered by {WAVEDROM} of {digest(text)} -->\n"
        f'{head}{end}<rect width="100%" height="100%" fill="white"/>{rest}\n'
    )


def paths(name: str) -> tuple[Path, Path]:
    """A diagram's source and image."""
    source, image = (ROOT / FOLDER / f"{name}.{kind}" for kind in ("json", "svg"))
    return source, image


def is_current(name: str) -> bool:
    """Whether the committed diagram is what the simulation shows, and its image is of it."""
    source, image = paths(name)
    text = text_of(name)
    return source.read_text("utf-8") == text and digest(text) in image.read_text("utf-8")


def main() -> None:
    """Write the files, or check them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, fail on a difference")
    options = parser.parse_args()
    if options.check:
        for name in DIAGRAMS:
            if not is_current(name):
                sys.exit(f"the diagram {name} is not up to date: run python tools/timing.py")
        return
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["npm", "install", "--silent", WAVEDROM], cwd=folder, check=True)
        for name in DIAGRAMS:
            source, image = paths(name)
            text = text_of(name)
            source.write_text(text, "utf-8")
            image.write_text(rendered(text, Path(folder)), "utf-8")


if __name__ == "__main__":
    main()
