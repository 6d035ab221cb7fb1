import random

import pytest

from coprime.device.base import BusTimeout
from coprime.device.faulty import FaultyDevice, StateElement
from coprime.flow.tool_errors import ToolError
from tests.flow.test_simulation import PLAIN

# Its registers are a count, the count's parity a cycle later, and a memory of all counts.
VERILOG = PLAIN.replace(
    "assign irq",
    """reg late = 0; reg [39:0] counts [0:7];
  wire parity = ^count;
  always @(posedge s_axi_aclk) begin
    late <= parity;
    counts[count[2:0]] <= {8'hA5, count};
  end
  assign used = late ^ counts[0][0];
  assign irq""",
).replace("output s_axi_rvalid,", "output s_axi_rvalid, output used,")


@pytest.fixture
def device():
    with FaultyDevice(VERILOG, "counter", cycle_limit=2000) as device:
        yield device


def test_registers(device):
    assert {(one.name, one.width, one.words) for one in device.registers.values()} == {
        ("count", 32, 1),
        ("late", 1, 1),
        ("counts", 40, 8),
    }
    assert [one.name for one in device.registers.values() if one.is_memory] == ["counts"]


def test_peek(device):
    count, late, counts = (device.registers[name] for name in ("count", "late", "counts"))
    start = device.peek(count)
    for cycle in range(start, start + 30):
        assert device.peek(count) == cycle
        if cycle > start:
            assert device.peek(late) == (cycle - 1).bit_count() % 2
            assert device.peek(counts, (cycle - 1) % 8) == 0xA5 << 32 | cycle - 1
        device.run(1)


@pytest.mark.parametrize("bit", range(9))
def test_flip_goes_on_from_there(device, bit):
    """The count is another one from then on, and so is what depends on it."""
    count = device.registers["count"]
    device.run(7)
    before = device.peek(count)
    device.flip(count, 0, bit)
    flipped = before ^ 1 << bit
    assert device.peek(count) == flipped
    device.run(1)
    assert device.peek(count) == flipped + 1
    assert device.peek(device.registers["late"]) == flipped.bit_count() % 2
    start = device.cycles
    device.wait_interrupt()
    assert device.cycles - start == 1000 - flipped - 1


def test_flip_in_memory(device):
    counts = device.registers["counts"]
    device.run(20)
    for word, bit in ((0, 0), (3, 39), (7, 32)):
        before = device.peek(counts, word)
        device.flip(counts, word, bit)
        assert device.peek(counts, word) == before ^ 1 << bit
    device.run(8)
    assert all(device.peek(counts, word) >> 32 == 0xA5 for word in range(8))


def test_restore(device):
    """The same follows again; what was flipped since is forgotten."""
    generator = random.Random(1)
    device.run(5)
    state = device.save()
    device.run(40)
    expected = device.save()
    for _ in range(20):
        device.restore(state)
        assert device.save() == state
        device.run(40)
        assert device.save() == expected
        register = generator.choice(list(device.registers.values()))
        word, bit = generator.randrange(register.words), generator.randrange(register.width)
        device.flip(register, word, bit)
        assert device.save() != expected


def test_two_at_once(device):
    """Each has its own registers, whichever is closed first."""
    count = device.registers["count"]
    device.run(10)
    with FaultyDevice(VERILOG, "counter") as other:
        assert other.peek(count) < device.peek(count)
        other.flip(count, 0, 20)
    before = device.peek(count)
    device.run(1)
    assert device.peek(count) == before + 1


def test_interrupt_of_before_is_forgotten(device):
    state = device.save()
    device.wait_interrupt()
    taken = device.cycles
    device.restore(state)
    device.wait_interrupt()
    assert device.cycles - taken > 900


@pytest.mark.parametrize(
    ("word", "bit", "error"),
    [
        (1, 0, r"word must be in 0\.\.0, not 1"),
        (-1, 0, r"word must be in 0\.\.0, not -1"),
        (0, 32, r"bit must be in 0\.\.31, not 32"),
    ],
)
def test_bit_that_is_not_there(device, word, bit, error):
    with pytest.raises(ValueError, match=error):
        device.flip(device.registers["count"], word, bit)


def test_register_of_another_device(device):
    with pytest.raises(ValueError, match="is no register of this device"):
        device.peek(StateElement("count", 7, 32, 1))


def test_state_of_another_device(device):
    with pytest.raises(ValueError, match=r"state must have \d+ bytes, not 3"):
        device.restore(b"abc")


def test_verilog_with_errors():
    with pytest.raises(ToolError, match="Yosys failed"):
        FaultyDevice(VERILOG, "none")


def test_poke(device):
    count, counts = device.registers["count"], device.registers["counts"]
    device.poke(count, 0, 500)
    assert device.peek(count) == 500
    device.poke(counts, 3, (1 << 40) - 1)
    assert device.peek(counts, 3) == (1 << 40) - 1
    with pytest.raises(ValueError, match=r"value must be in 0\.\.2\*\*32 - 1, not 4294967296"):
        device.poke(count, 0, 1 << 32)


def test_restore_only(device):
    """The count goes back by 20, and the memory keeps what was written since."""
    count, counts = device.registers["count"], device.registers["counts"]
    state, before = device.save(), device.peek(count)
    device.run(20)
    kept = [device.peek(counts, word) for word in range(8)]
    device.restore(state, only=[count])
    assert device.peek(count) == before
    assert [device.peek(counts, word) for word in range(8)] == kept


def test_equals(device):
    state = device.save()
    assert device.equals(state)
    device.flip(device.registers["counts"], 7, 39)
    assert not device.equals(state)
    device.flip(device.registers["counts"], 7, 39)
    assert device.equals(state)
    with pytest.raises(ValueError, match=r"state must have \d+ bytes, not 1"):
        device.equals(b"a")


def test_call_at(device):
    """In each of these cycles, in an access too; a register that changes then has its effect."""
    count, seen = device.registers["count"], []
    cycles = iter([device.cycles + cycle for cycle in (5, 6, 9)])

    def call():
        seen.append((device.cycles, device.peek(count)))
        device.flip(count, 0, 8)
        return next(cycles, None)

    start, first = device.cycles, device.peek(count)
    device.call_at(next(cycles), call)
    with pytest.raises(BusTimeout):
        device.read32(0)  # nobody answers
    assert [cycle - start for cycle, _ in seen] == [5, 6, 9]
    assert [value - first for _, value in seen] == [5, 6 + 256, 9]
