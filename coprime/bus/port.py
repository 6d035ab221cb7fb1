"""The register port, through which a bus slave accesses the registers."""

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

WINDOW_BITS = 12  # width of a byte address in the window of 4 KiB
ADDRESS_BITS = WINDOW_BITS - 2  # width of a register's number: its byte address divided by 4
WORD_BITS = 32  # width of a register, and of the words in which software writes and reads numbers

WRITE_PORTS = {
    "write": In(1),
    "write_address": In(ADDRESS_BITS),
    "write_data": In(WORD_BITS),
    **dict.fromkeys(("write_ready", "write_error"), Out(1)),
}
READ_PORTS = {
    "read": In(1),
    "read_address": In(ADDRESS_BITS),
    "read_ready": Out(1),
    "read_data": Out(WORD_BITS),
    "read_error": Out(1),
}


class RegisterSignature(wiring.Signature):
    """Reads and writes of whole 32-bit registers, seen from the registers.

    `write` with its address and data, and `read` with its address, are held until the first cycle
    in which `write_ready`, or `read_ready`, is 1: in that cycle the access takes place,
    `write_error`, or `read_data` and `read_error`, are valid, and the request ends. A write and a
    read may be in progress at the same time. An access with an error has no other effect; the data
    of such a read is 0.
    """

    def __init__(self) -> None:
        super().__init__({**WRITE_PORTS, **READ_PORTS})


def connect_sides(m: Module, registers: wiring.PureInterface, *sides: wiring.Component) -> None:
    """Connect a register port to components, each of which has some of its members."""
    for side in sides:
        for name, member in registers.signature.members.items():
            if name in side.signature.members:
                outer, inner = getattr(registers, name), getattr(side, name)
                m.d.comb += inner.eq(outer) if member.flow == In else outer.eq(inner)
