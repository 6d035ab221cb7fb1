"""The serial link: area of the bridge, and time on the wire, in cycles of a simulated board."""

from coprime.bus.serial.bridge import SerialBridge
from coprime.bus.serial.uart import divisor_of
from coprime.catalog import choose
from coprime.cells.target import Target
from coprime.device.accelerator import Accelerator
from coprime.device.serial import SerialDevice
from coprime.flow.mapping import map_design
from coprime.rsa import keys
from coprime.soc.serial_board import MODULE_NAME, serial_board_verilog
from coprime.soc.simulated_board import SimulatedBoard, SimulatedPort

from .page import replace_part, table

PAGE = "serial.md"
CLOCK = 12_000_000
BITS = 2048
X = 12345
BAUDS = (115_200, 921_600, 3_000_000)
DIVISOR = 104
"""Cycles per bit of the bridge whose area is measured."""
TARGETS = (Target.XC7, Target.ECP5, Target.ICE40)
DESIGNS = (("compact", {"max_bits": "2048"}), ("ring", {"max_bits": "2048"}))


def area() -> None:
    """Write the table of the bridge's cells."""
    rows = []
    for target in TARGETS:
        used = map_design(target, SerialBridge(DIVISOR), "coprime_bridge")
        rows.append((target.value, used.lut, used.carry, used.ff, f"{used.bram:g}"))
    head = ["target, mapped by Yosys", "LUTs", "carry cells", "flip-flops", "block RAM"]
    replace_part(PAGE, "bridge", table(head, rows))


def measure() -> str:
    """Write the page's tables; on the common page there is nothing of it."""
    area()
    key = keys.generate(BITS, seed=1)
    rows = []
    for family, settings in DESIGNS:
        for baud in BAUDS:
            verilog = serial_board_verilog(choose(family, settings), divisor_of(CLOCK, baud))
            board = SimulatedBoard(verilog, MODULE_NAME, clock=CLOCK, baud=baud)
            with SerialDevice(SimulatedPort(board)) as device:
                start = board.cycles
                accelerator = Accelerator(device)
                opened = board.cycles
                accelerator.load_private(key)
                loaded = board.cycles
                result = accelerator.private(X)
                end = board.cycles
            assert result.value == pow(X, key.d, key.n)
            assert device.repeated == 0
            parts = (opened - start, loaded - opened, result.cycles, end - loaded - result.cycles)
            rows.append((f"`{family}`", f"{baud:,}", *(f"{part:,}" for part in parts)))
    head = ["family", "baud", "identification", "loading the key", "engine"]
    replace_part(PAGE, "transfer", table([*head, "input, polls and result"], rows))
    return ""
