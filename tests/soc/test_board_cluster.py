"""A cluster on a board, in simulation at its serial port."""

from coprime.catalog import choose
from coprime.device.cluster import Cluster
from coprime.device.scheduler import Scheduler
from coprime.device.serial import SerialDevice
from coprime.flow.boards import BOARDS
from coprime.rsa import keys
from coprime.soc.board_cluster import board_cluster_bench
from coprime.soc.simulated_board import SimulatedBoard, SimulatedPort

BAUD = 3_000_000


def test_cores_on_a_board_decrypt():
    board = BOARDS["ulx3s"]
    choice = choose("cluster", {"cores": "2", "max_bits": "64", "link_registers": "1"})
    top, verilog = board_cluster_bench(choice, board, baud=BAUD)
    clock = round(board.clock_mhz * 1e6)
    port = SimulatedPort(SimulatedBoard(verilog, top, clock=clock, baud=BAUD))
    key = keys.generate(64, seed=1)
    with SerialDevice(port) as device:
        scheduler = Scheduler(Cluster(device))
        requests = [scheduler.private(key, pow(x, key.e, key.n)) for x in (5, 6)]
        done = list(scheduler.completed())
    assert sorted(one.result.value for one in done) == [5, 6]
    assert {one.result.core for one in requests} == {0, 1}
