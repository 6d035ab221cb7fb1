"""What the data sheet of engines of byte strings has: calls with their cycles, and slots."""

from collections.abc import Iterator, Mapping
from random import Random

from coprime.calls.interface import WORD_BYTES, Call, CallDesign, EngineInterface
from coprime.engine.capabilities import Error

from .description import SheetParts
from .sheet import Cell

_PREDICTED = "predicted, exact"
_NO_STREAM = "none"
_MESSAGES = (0, 64, 1024, 16384)
"""Bytes of streams that calls take."""


def call_sheet(
    design: CallDesign, mhz: float | None, *, proved: bool, cores: int = 1
) -> SheetParts:
    """The parts of a data sheet; `proved`: constant time is. Cycles are those of one core."""
    interface = design.interface
    calls = [_times(row, mhz) for row in _calls(design)]
    return SheetParts(
        template="call_sheet.toml.j2",
        values={
            "interface": interface,
            "has_sets": len(interface.parameter_sets) > 1,
            "has_streams": any(slot.streamed for slot in interface.slots),
            "varies": [call.varies for call in interface.calls if call.varies],
        },
        first=[
            *([("cores", cores, "")] if cores > 1 else []),
            *_first(design, proved=proved),
        ],
        headline=list(_headline(calls, mhz)),
        rows={
            "calls": calls,
            "slots": [
                {
                    "number": slot.number,
                    "slot": slot.name,
                    "bytes": "any"
                    if slot.streamed
                    else ", ".join(map(str, filter(None, slot.lengths))),
                    "access": _access(design, slot.name),
                    "secret": slot.secret,
                    "meaning": slot.summary,
                }
                for slot in interface.slots
            ],
        },
    )


def _access(design: CallDesign, name: str) -> str:
    """What software may do with a slot."""
    interface = design.interface
    slot = interface.slot[name]
    if slot.streamed:
        taken = any(name in call.takes for call in interface.calls)
        return "fed while a call runs" if taken else "read while a call runs"
    ways = [
        *(["loaded"] if name in interface.loadable else []),
        *(["read"] if slot.readable else []),
    ]
    return " and ".join(ways) or "none: it stays inside"


def _first(design: CallDesign, *, proved: bool) -> Iterator[tuple[str, Cell, str]]:
    """What a reader looks for first."""
    interface = design.interface
    yield "calls", ", ".join(call.name for call in interface.calls), ""
    if len(interface.parameter_sets) > 1:
        yield "parameter sets", ", ".join(interface.parameter_sets), ""
    found = "proved, see Assessments" if proved else "declared, not proved"
    yield "constant time", interface.constant_time, found if interface.constant_time else ""
    checked = [call.name for call in interface.calls if call.checked]
    yield "results checked in hardware", ", ".join(checked) or "no", ""


def _calls(design: CallDesign) -> Iterator[dict[str, Cell]]:
    """Each call with each parameter set, and with streams of some lengths."""
    interface = design.interface
    for call in interface.calls:
        for name in interface.sets_of(call):
            for size in _sizes(interface, call):
                if size is not None and call.draw_stream:
                    values = call.draw_stream(name, Random(1), size)
                else:
                    values = interface.inputs(call, name, Random(1), size or 0)
                done = design.predict(call, name, values)
                if done.error is not Error.NONE:
                    continue
                given = [len(data) for data in values.values()]
                taken = [
                    interface.length(call, output, name, values)
                    for output in call.outputs
                    if interface.slot[output].readable or interface.slot[output].streamed
                ]
                yield {
                    "call": call.name,
                    "set": name,
                    "message": _NO_STREAM if size is None else size,
                    "cycles": done.cycles,
                    "words": sum(-(-length // WORD_BYTES) for length in (*given, *taken)),
                    "found": _PREDICTED,
                }


def _sizes(interface: EngineInterface, call: Call) -> tuple[int | None, ...]:
    """Bytes of a call's stream; None if there is none. One whose cycles depend on more takes an
    alternative."""
    if not interface.has_stream(call) or call.varies:
        return (None,)
    return (None, *_MESSAGES) if call.draw_stream else _MESSAGES


def _times(row: Mapping[str, Cell], mhz: float | None) -> dict[str, Cell]:
    cycles = row["cycles"]
    assert isinstance(cycles, int)
    return {
        **row,
        "microseconds": cycles / mhz if mhz else None,
        "per_second": mhz * 1e6 / cycles if mhz else None,
    }


def _headline(calls: list[dict[str, Cell]], mhz: float | None) -> Iterator[tuple[str, Cell, str]]:
    """The longest call."""
    if not calls:
        return
    longest = max(calls, key=lambda call: float(str(call["cycles"])))
    details = [str(longest["set"])] if longest["set"] else []
    if longest["message"] != _NO_STREAM:
        details.append(f"{longest['message']:,} bytes")
    text = f"{longest['cycles']:,} cycles"
    if mhz is not None:
        text += f", {longest['microseconds']:.4g} us"
    found = _PREDICTED if mhz is None else f"{_PREDICTED}; at {mhz:.4g} MHz"
    yield ", ".join([str(longest["call"]), *details]), text, found
