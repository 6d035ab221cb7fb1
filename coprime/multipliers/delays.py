"""Signals as they were some cycles ago."""

from amaranth.hdl import Module, Signal, Value, ValueLike
from amaranth.lib import data


def delays(m: Module, signal: Signal, cycles: int, *, reset: bool = False) -> list[Signal]:
    """The signal as it was 0, 1, ... `cycles` cycles ago; shift registers, with a reset or not."""
    taps = [signal]
    for age in range(1, cycles + 1):
        delayed = Signal.like(signal, name=f"{signal.name}_{age}", reset_less=not reset)
        m.d.sync += delayed.eq(taps[-1])
        taps.append(delayed)
    return taps


def past(m: Module, signal: Signal, cycles: int, *, reset: bool = False) -> Signal:
    """The signal as it was `cycles` cycles ago: the last one of `delays`."""
    return delays(m, signal, cycles, reset=reset)[-1]


def history(
    m: Module, name: str, value: ValueLike, cycles: int, *, reset: bool = False
) -> list[Signal]:
    """`delays` of a value that has no name of its own yet."""
    signal = Signal(Value.cast(value).shape(), name=name)
    m.d.comb += signal.eq(value)
    return delays(m, signal, cycles, reset=reset)


def past_value(
    m: Module, name: str, value: ValueLike, cycles: int, *, reset: bool = False
) -> Signal:
    """A value as it was `cycles` cycles ago: the last one of its `history`."""
    return history(m, name, value, cycles, reset=reset)[-1]


def stages(
    m: Module, name: str, record: data.View, cycles: int, *, reset: bool = False
) -> list[data.View]:
    """`history` of a record: its fields in each stage of a pipeline."""
    layout = record.shape()
    return [layout(then) for then in history(m, name, record, cycles, reset=reset)]
