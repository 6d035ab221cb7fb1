import zlib

import pytest
from amaranth.sim import Simulator

from coprime.bus.serial.protocol import ESCAPE, ESCAPED, FCS_BYTES, FIXED, FLAG


class Frames:
    """The frames of docs/serial.md, written a second time."""

    @staticmethod
    def frame(body):
        body += zlib.crc32(body).to_bytes(FCS_BYTES, "little")
        escaped = b"".join(
            bytes([ESCAPE, one ^ ESCAPED]) if one in (FLAG, ESCAPE) else bytes([one])
            for one in body
        )
        return bytes([FLAG]) + escaped + bytes([FLAG])

    @classmethod
    def request(cls, number, command, address=0, count=None, words=(), fixed=False):
        register = address // 4
        data = b"".join(word.to_bytes(4, "little") for word in words)
        second = command << 4 | (FIXED if fixed else 0) | register >> 8
        count = len(words) if count is None else count
        return cls.frame(bytes([number, second, register & 255, count]) + data)

    @staticmethod
    def bodies(received):
        """The frames without their checksums, which are right."""
        found = []
        for escaped in received.split(bytes([FLAG])):
            parts = escaped.split(bytes([ESCAPE]))
            body = parts[0] + b"".join(bytes([part[0] ^ ESCAPED]) + part[1:] for part in parts[1:])
            if body:
                assert (
                    zlib.crc32(body[:-FCS_BYTES]).to_bytes(FCS_BYTES, "little")
                    == (body[-FCS_BYTES:])
                )
                found.append(body[:-FCS_BYTES])
        return found


@pytest.fixture
def frames():
    return Frames


@pytest.fixture
def simulate():
    """Run testbenches on a component; those after the first one are in the background."""

    def run(component, first, *background):
        simulator = Simulator(component)
        simulator.add_clock(1e-6)
        simulator.add_testbench(first)
        for one in background:
            simulator.add_testbench(one, background=True)
        simulator.run()

    return run
