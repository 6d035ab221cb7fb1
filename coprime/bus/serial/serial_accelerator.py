"""An accelerator that is reached over a serial wire."""

from fractions import Fraction

from amaranth.hdl import Elaboratable, Module, ResetInserter
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect

from coprime.bus.axi4_lite import AXI4Lite
from coprime.bus.axi_accelerator import (
    connect_registers,
    front_end_of,
    noise_ports,
    with_reset,
)
from coprime.bus.serial.bridge import SerialBridge
from coprime.calls.without_random import wired_without_random
from coprime.random.kinds import RandomSource


class SerialAccelerator(wiring.Component):
    """An engine with its registers, behind a bridge from a serial wire. Clock domain `sync`.

    Parameters
    ----------
    engine : as of AxiAccelerator
    divisor : clock cycles of a bit, as SerialBridge's
    source : where random bytes come from. Without one in the hardware, the engine must not be one
        of numbers that draws random bytes (ValueError), and the calls of one of byte strings need
        all their inputs.
    noise : as of AxiAccelerator

    Members
    -------
    rx, tx (1 bit each, in and out): the wires, 1 at rest
    session (1 bit, out): a host has opened a session
    irq (1 bit, out): a command has ended, and the host has not taken notice yet
    noise_enable, noise_valid, noise_sample : as of AxiAccelerator
    """

    def __init__(
        self,
        engine: wiring.Component,
        divisor: int | Fraction,
        source: RandomSource = RandomSource.STREAM,
        noise: str | None = None,
    ):
        if source is RandomSource.STREAM:
            engine = wired_without_random(engine)
        self.front_end = front_end_of(engine, source=source)
        if self.front_end.draws and source is RandomSource.STREAM:
            raise ValueError(
                "a serial accelerator has no source of random bytes for blinding: add one to the"
                " hardware with --random seeded or trng"
            )
        self.engine, self.source, self.noise = engine, source, noise
        outside = source is RandomSource.TRNG and noise is None
        self.bridge = SerialBridge(divisor)
        ports = {"rx": In(1), "tx": Out(1, init=1), "session": Out(1), "irq": Out(1)}
        super().__init__({**ports, **(noise_ports() if outside else {})})

    def elaborate(self, platform: object) -> Elaboratable:
        """Connect them, and let the bridge reset everything behind it."""
        m = Module()
        m.submodules.bridge = bridge = self.bridge
        by_bridge = ResetInserter(bridge.reset)
        engine, front_end, slave = self.engine, self.front_end, AXI4Lite()
        m.submodules.engine = by_bridge(with_reset(engine, front_end))
        m.submodules.front_end = by_bridge(front_end)
        m.submodules.slave = by_bridge(slave)
        connect(m, front_end.engine, engine)
        connect_registers(m, slave.registers, front_end, self.source, self.noise or self, by_bridge)
        connect(m, bridge.axi, slave.axi)
        m.d.comb += [
            bridge.rx.eq(self.rx),
            self.tx.eq(bridge.tx),
            bridge.irq.eq(front_end.irq),
            self.session.eq(bridge.session),
            self.irq.eq(front_end.irq),
        ]
        return m
