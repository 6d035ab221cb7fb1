"""The ports of an engine of byte strings.

Protocol
--------
* While `busy` is 0, slots are loaded: words of `load` of one slot in order, `index` counting from
  0, each with `ready`. `bytes` counts with `last` only: the bytes of the last word, 0 to 4. Front
  ends load exactly the slot's bytes for the `parameter_set`, and remember which slots are complete.
* `start` is sampled while `busy` is 0, with `call`, its code, with `parameter_set` and with
  `complete`, a bit for each slot's number, which do not change while `busy` is 1. `busy` is 1 from
  the next cycle on, `done` only in the last busy cycle. `error` is valid from that cycle until the
  next `start`; with an error there are no outputs. `given` is valid with `done`: a bit for each
  number of a slot that is complete afterwards.
* A slot that is streamed is loaded while `busy` is 1, by words of `load` with `last` at its end;
  the engine takes them when it can. A streamed output is read while `busy` is 1; the call ends
  with its last word. `read_restart` does not change where a stream is. A word that is offered
  and not taken may be withdrawn as the call ends. Streams have no bit in `complete` and `given`.
* `output` gives the words of slot `read_slot` in order, from word 0 after each cycle with
  `read_restart` = 1. `bytes` counts with `last` only. The front end reads slots that are complete
  and readable, and `read_slot` does not change but with `read_restart`. The engine holds back
  words of a slot that is neither.
* WIPE is a call: it clears every memory and register that has held a secret. After a reset the
  engine wipes itself, with `busy` = 1. WIPE while another call runs is such a reset.
* `working` is 1 in the busy cycles that count as work: none in which the engine waits for words of
  a stream, for a stream's words to be taken, or for random bytes, and as many however fast these
  are. So an engine that takes words while it computes counts the cycles in which it computes. Their
  number is what predictions predict.
* `multiplying` is the number of units that do useful work in this cycle.
"""

from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import bits_for

from coprime.engine.capabilities import COMMAND_BITS, ERROR_BITS

from .interface import WORD_BYTES, EngineInterface

WORD = data.StructLayout({"data": 8 * WORD_BYTES, "bytes": range(WORD_BYTES + 1), "last": 1})
"""A word of a byte string, the first byte least significant."""


def load_layout(interface: EngineInterface) -> data.StructLayout:
    """A word with the slot that it belongs to, and its number there."""
    return data.StructLayout(
        {
            "slot": interface.slot_bits,
            "index": interface.index_bits,
            "word": WORD,
        }
    )


class CallSignature(wiring.Signature):
    """The engine's ports as described above, seen from the engine."""

    def __init__(self, interface: EngineInterface):
        numbers = max(slot.number for slot in interface.slots) + 1
        ports = {
            "load": In(stream.Signature(load_layout(interface))),
            "output": Out(stream.Signature(WORD)),
            "read_slot": In(interface.slot_bits),
            "read_restart": In(1),
            "call": In(COMMAND_BITS),
            "parameter_set": In(interface.set_bits),
            "complete": In(numbers),
            "start": In(1),
            **dict.fromkeys(("busy", "done", "working"), Out(1)),
            "error": Out(ERROR_BITS),
            "given": Out(numbers),
            "multiplying": Out(bits_for(interface.units)),
        }
        if interface.draws:
            ports["random"] = In(stream.Signature(8))
        super().__init__(ports)


def interface_of(engine: wiring.Component) -> EngineInterface:
    """Give the interface of an engine; TypeError if it is none, by its attribute or ports."""
    interface = getattr(engine, "interface", None)
    if not isinstance(interface, EngineInterface):
        raise TypeError(f"engine must have an interface, and {engine!r} has not")
    if engine.signature.members != CallSignature(interface).members:
        raise TypeError(f"engine must have the ports of CallSignature, and {engine!r} has not")
    return interface
