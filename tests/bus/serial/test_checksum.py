import random
import zlib

import pytest

from coprime.bus.serial.checksum import CYCLES, Checksum

SEED = 3


@pytest.mark.parametrize("size", [0, 1, 9, 40])
def test_checksum_is_that_of_zlib(size, simulate):
    checksum = Checksum()
    message = b"123456789" if size == 9 else random.Random(SEED).randbytes(size)

    async def bench(context):
        async def put(data):
            for byte in data:
                context.set(checksum.data, byte)
                context.set(checksum.valid, 1)
                await context.tick()
                context.set(checksum.valid, 0)
                await context.tick().repeat(CYCLES - 1)
            await context.tick()

        for right in (True, False):
            context.set(checksum.clear, 1)
            await context.tick()
            context.set(checksum.clear, 0)
            await put(message)
            expected = zlib.crc32(message)
            assert context.get(checksum.value) == expected
            end = expected if right else expected ^ 1
            await put(end.to_bytes(4, "little"))
            assert context.get(checksum.matches) == right

    simulate(checksum, bench)
    assert zlib.crc32(b"123456789") == 0xCBF43926  # the check value of CRC-32/ISO-HDLC
