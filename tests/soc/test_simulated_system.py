"""The system itself, with programs of a few instructions, assembled by hand."""

import pytest

from coprime.bus import registers
from coprime.bus.kinds import Bus
from coprime.catalog import choose
from coprime.device.base import DeviceError
from coprime.soc.burst_bridge import CopyRegister
from coprime.soc.riscv import ACCELERATOR, COPY_ENGINE, RAM_BYTES, UART, system_verilog
from coprime.soc.simulated_system import DIVISOR, SimulatedSystem

pytestmark = pytest.mark.xdist_group("RISC-V system with fdfm")

EBREAK = 0x0010_0073
T0, T1, T2 = 5, 6, 7


def lui(register, value):
    assert not value & 0xFFF
    return value | register << 7 | 0x37


def immediate(register, source, value, opcode=0x13, kind=0):
    return (value & 0xFFF) << 20 | source << 15 | kind << 12 | register << 7 | opcode


def load(register, base, offset, kind=2):
    return immediate(register, base, offset, 0x03, kind)


def store(register, base, offset, kind=2):
    high, low = offset >> 5 & 0x7F, offset & 31
    return high << 25 | register << 20 | base << 15 | kind << 12 | low << 7 | 0x23


def branch_back(register, words):
    """Branch so many words back if the register is not 0 (bne)."""
    at = -4 * words & 0x1FFF
    high = (at >> 12 & 1) << 6 | at >> 5 & 0x3F
    low = (at >> 1 & 0xF) << 1 | at >> 11 & 1
    return high << 25 | register << 15 | 1 << 12 | low << 7 | 0x63


def put(register):
    """Send a byte through the UART, whose address is in T0."""
    return [load(T2, T0, 0), branch_back(T2, 1), store(register, T0, 0, 0)]


@pytest.fixture(scope="module")
def system():
    # The fdfm that test_decryption.py runs its firmware on.
    verilog = system_verilog(choose("fdfm", {}), divisor=DIVISOR)
    with SimulatedSystem(verilog) as simulated:
        simulated.verilog = verilog
        yield simulated


@pytest.fixture(scope="module")
def burst_system():
    verilog = system_verilog(choose("fdfm", {}), bus=Bus.AXI4, divisor=DIVISOR)
    with SimulatedSystem(verilog) as simulated:
        yield simulated


def run(system, *words, limit=10_000):
    system.load(0, words)
    return system.run(limit)


def test_uart(system):
    program = [lui(T0, UART)]
    for character in b"Hi!":
        program += [immediate(T1, 0, character), *put(T1)]
    program += [load(T2, T0, 0), branch_back(T2, 1), EBREAK]
    assert run(system, *program) == "Hi!"


def test_identification_and_bytes_of_the_memory(system):
    expected = registers.IDENTIFICATION["ID"].reset.to_bytes(4, "little")
    program = [lui(T0, ACCELERATOR), load(T1, T0, registers.IDENTIFICATION.address)]
    program += [lui(T2, 0x8000), store(T1, T2, 0), lui(T0, UART)]
    for place in range(4):
        program += [lui(T2, 0x8000), load(T1, T2, place, 4), *put(T1)]
    program += [load(T2, T0, 0), branch_back(T2, 1), EBREAK]
    assert run(system, *program).encode() == expected


def copy(memory, accelerator, kind, count):
    """Let the copy engine copy a block."""
    words = [lui(T0, COPY_ENGINE)]
    for register, value in (
        (CopyRegister.MEMORY, memory),
        (CopyRegister.ACCELERATOR, accelerator),
        (kind, count),
    ):
        words += [immediate(T1, 0, value), store(T1, T0, register)]
    return words


@pytest.mark.matrix
def test_a_burst_into_the_memory(burst_system):
    place = 0x700
    program = copy(place, registers.IDENTIFICATION.address, CopyRegister.RECEIVE, 1)
    program += [lui(T0, UART)]
    for byte in range(4):
        program += [load(T1, 0, place + byte, 4), *put(T1)]
    program += [load(T2, T0, 0), branch_back(T2, 1), EBREAK]
    expected = registers.IDENTIFICATION["ID"].reset.to_bytes(4, "little")
    assert run(burst_system, *program).encode() == expected


@pytest.mark.matrix
def test_a_burst_out_of_the_memory(burst_system):
    """The program's own first word goes to a register, and is read there by the processor."""
    enable = registers.INTERRUPT_ENABLE.address
    program = copy(0x700, enable, CopyRegister.SEND, 1)
    program += [lui(T0, ACCELERATOR), load(T1, T0, enable), immediate(T1, T1, ord("0"))]
    program += [lui(T0, UART), *put(T1), load(T2, T0, 0), branch_back(T2, 1), EBREAK]
    program += [0] * (0x700 // 4 - len(program)) + [1]
    assert run(burst_system, *program) == "1"


@pytest.mark.parametrize(
    "program",
    [
        copy(0, registers.INPUT_WINDOW.address, CopyRegister.SEND, 0),
        copy(2, registers.INPUT_WINDOW.address, CopyRegister.SEND, 1),
        copy(0, 0x20, CopyRegister.RECEIVE, 1),  # no such register
        [lui(T0, COPY_ENGINE), load(T1, T0, 0)],
    ],
)
def test_bad_copies_stop_the_processor(burst_system, program):
    with pytest.raises(DeviceError, match="an access of the firmware reached no device"):
        run(burst_system, *program, EBREAK)
    assert run(burst_system, EBREAK) == ""


@pytest.mark.parametrize(
    ("address", "access"),
    [
        (RAM_BYTES, load(T1, T0, 0)),
        (0x2000_0000, store(T1, T0, 0)),
        (UART + 0x1000, load(T1, T0, 0)),
        (COPY_ENGINE, store(T1, T0, 0)),  # with AXI4 only
        (ACCELERATOR, load(T1, T0, 0x20)),  # no such register
        (ACCELERATOR, store(T1, T0, registers.IDENTIFICATION.address)),  # read only
        (ACCELERATOR, store(T1, T0, registers.COMMAND.address, 0)),  # a byte of a register
    ],
)
def test_bad_accesses_stop_the_processor(system, address, access):
    with pytest.raises(
        DeviceError, match="an access of the firmware reached no device or was refus"
    ):
        run(system, lui(T0, address), access, EBREAK)
    # Loading another program makes it work again.
    assert run(system, EBREAK) == ""


def test_a_program_without_end(system):
    before = system.cycles
    with pytest.raises(DeviceError, match="still runs after 1000 clock cycles"):
        run(system, 0x0000_006F, limit=1000)
    assert system.cycles == before + 1000


def test_reset_clears_the_accelerator(system):
    enable = registers.INTERRUPT_ENABLE.address
    show = [lui(T0, ACCELERATOR), load(T1, T0, enable), immediate(T1, T1, ord("0")), lui(T0, UART)]
    show += [*put(T1), load(T2, T0, 0), branch_back(T2, 1), EBREAK]
    set_it = [lui(T0, ACCELERATOR), immediate(T1, 0, 1), store(T1, T0, enable)]
    assert run(system, *set_it, *show) == "1"
    assert run(system, *show) == "0"


def test_loading_is_checked(system):
    for address, count in ((2, 1), (-4, 1), (RAM_BYTES - 4, 2)):
        with pytest.raises(ValueError, match=f"{count} words do not fit at address {address} in"):
            system.load(address, [0] * count)


def test_closed(system):
    simulated = SimulatedSystem(system.verilog)
    simulated.close()
    simulated.close()
    with pytest.raises(DeviceError, match="closed"):
        simulated.run(1)
