"""Inputs of a node's engine besides its operands: counts, lengths, and the command."""

from amaranth.hdl import Elaboratable, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from coprime.cells.wires import same_named
from coprime.engine.contract import Capabilities, Command, PerLength
from coprime.engine.seal import Seal
from coprime.operations.operation import among

from .packet import SETTINGS, PacketLayout

WIPE = Command.WIPE
"""The command that a node starts by itself; it has no result."""


class NodeSettings(wiring.Component):
    """Registers for counts and lengths, which SET packets write, and for the command of a START.

    Parameters
    ----------
    capabilities: those of the engine
    layout: of the packets

    Members
    -------
    sets, index, value: a SET packet
    starts, begun: a START packet, and its command
    wipes: the command becomes WIPE
    counts, lengths, command: as the engine's
    sound: none of those on which a checked result depends has changed since it was written; only if
        results are checked
    """

    def __init__(self, capabilities: Capabilities, layout: PacketLayout):
        self.capabilities = capabilities
        ports = {
            **dict.fromkeys(("sets", "starts", "wipes"), In(1)),
            "index": In(layout["index"].shape),
            "value": In(layout["data"].shape),
            "counts": Out(PerLength(capabilities.count_bits)),
            "lengths": Out(PerLength(capabilities.length_bits)),
            "begun": In(capabilities.command_bits),
            "command": Out(capabilities.command_bits),
            **({"sound": Out(1)} if capabilities.checked else {}),
        }
        super().__init__(ports)

    def elaborate(self, platform: object) -> Elaboratable:
        """Describe the circuit."""
        m = Module()
        capabilities = self.capabilities
        for index, (port, field) in enumerate(SETTINGS):
            with m.If(self.sets & (self.index[: len(SETTINGS).bit_length() - 1] == index)):
                m.d.sync += getattr(self, port)[field].eq(self.value)
        begins, begun = Signal(), Signal.like(self.command)
        m.d.comb += [begins.eq(self.starts), begun.eq(self.begun)]
        if capabilities.checked:
            with m.If(self.wipes):
                m.d.comb += [begins.eq(1), begun.eq(WIPE)]
        with m.If(begins):
            m.d.sync += self.command.eq(begun)
        if capabilities.checked:
            m.submodules.seal = seal = Seal(capabilities, capabilities.length_bits)
            m.d.comb += [
                *same_named(seal, self, "counts", "lengths", "command"),
                seal.writes.eq(self.sets),
                seal.begins.eq(begins),
                seal.begun.eq(begun),
                self.sound.eq(
                    seal.same_command
                    & (seal.intact | ~among(self.command, capabilities.with_check))
                ),
            ]
        return m
