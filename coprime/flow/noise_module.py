"""Verilog of the noise source of a target, as a module of its own.

Ring oscillators cannot be simulated as logic: without delays, a ring has no value. So a simulation
defines NOISE_MODEL, and has a module of this name and these ports that gives samples.
"""

from coprime.cells.target import Target
from coprime.random.kinds import RandomSource
from coprime.random.ring_oscillators import NOISE_TARGETS, RingOscillators

from .verilog import to_verilog

NOISE_MODEL = "COPRIME_NOISE_MODEL"
"""The macro of a simulation that has a model of the noise source."""
_HEADER = f"""Ring oscillators: combinational loops, which tools must keep and not report as errors.
The entropy of their noise has not been measured on any device.
A simulation defines {NOISE_MODEL}, and has a module of this name that models them."""


def check_noise(source: RandomSource, target: Target) -> None:
    """Raise ValueError for a TRNG on a target whose noise source there is not."""
    if source is RandomSource.TRNG and target not in (Target.GENERIC, *NOISE_TARGETS):
        known = ", ".join(supported.value for supported in NOISE_TARGETS)
        raise ValueError(
            f"--random trng: there are ring oscillators for {known}, and none for {target.value};"
            " take --random seeded, or --target generic with a noise source of your own"
        )


def noise_module(source: RandomSource, target: Target, name: str) -> str | None:
    """Name of the module, with the ports of RingOscillators, that a design of this name
    instantiates; None if it needs none, or has ports for one outside.

    Raises ValueError as `check_noise`.
    """
    check_noise(source, target)
    outside = source is not RandomSource.TRNG or target is Target.GENERIC
    return None if outside else f"{name}_noise"


def loop_options(verilog: str) -> tuple[str, ...]:
    """What nextpnr needs for a design with rings, and for no other."""
    return ("--ignore-loops",) if NOISE_MODEL in verilog else ()


def with_noise(verilog: str, noise: str | None, target: Target) -> str:
    """The Verilog of a design, and of the module that it instantiates, if any."""
    if noise is None:
        return verilog
    rings = to_verilog(RingOscillators(target), noise, header=_HEADER)
    return f"{verilog}\n`ifndef {NOISE_MODEL}\n{rings}`endif\n"
