"""An engine of byte strings where there is no source of random bytes."""

from dataclasses import replace

from amaranth.hdl import Elaboratable, Module
from amaranth.lib import wiring

from .interface import EngineInterface
from .ports import CallSignature, interface_of


def without_random(interface: EngineInterface) -> EngineInterface:
    """The interface of the same engine, whose calls draw nothing: each needs all its inputs."""
    calls = tuple(replace(call, optional=frozenset()) for call in interface.calls)
    return replace(interface, calls=calls)


class WithoutRandom(wiring.Component):
    """An engine whose calls need all their inputs: a front end refuses one without an input, which
    would wait for random bytes forever.

    Parameters
    ----------
    engine : one that draws random bytes, with the ports of CallSignature

    The ports are those of CallSignature, without `random`.
    """

    def __init__(self, engine: wiring.Component):
        self.engine = engine
        self.interface = without_random(interface_of(engine))
        super().__init__(CallSignature(self.interface))

    def elaborate(self, platform: object) -> Elaboratable:
        """Connect the ports."""
        m = Module()
        m.submodules.engine = self.engine
        signature = CallSignature(self.interface)
        pairs = zip(signature.flatten(self), signature.flatten(self.engine), strict=True)
        for (_, member, outer), (_, _, inner) in pairs:
            target, source = (outer, inner) if member.flow is wiring.Out else (inner, outer)
            m.d.comb += target.eq(source)
        return m


def wired_without_random(engine: wiring.Component) -> wiring.Component:
    """The engine; one of byte strings that draws random bytes without their source."""
    interface = getattr(engine, "interface", None)
    if isinstance(interface, EngineInterface) and interface.draws:
        return WithoutRandom(engine)
    return engine
