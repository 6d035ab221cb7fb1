"""A cluster on a board, in simulation at its serial port."""

import json

import pytest

from coprime.catalog import choose
from coprime.device.cluster import Cluster
from coprime.device.scheduler import Scheduler
from coprime.device.serial import SerialDevice
from coprime.flow.board import BoardResult
from coprime.flow.boards import BOARDS
from coprime.flow.parts import FRONT_END, NODE
from coprime.rsa import keys
from coprime.soc import board_files
from coprime.soc.board_cluster import board_cluster_bench
from coprime.soc.simulated_board import SimulatedBoard, SimulatedPort

BAUD = 3_000_000


@pytest.mark.matrix
def test_cores_on_a_board_decrypt():
    board = BOARDS["ulx3s"]
    choice = choose("cluster", {"cores": "2", "max_bits": "64", "link_registers": "1"})
    top, verilog = board_cluster_bench(choice, board, baud=BAUD)
    clock = round(board.oscillator_mhz * 1e6)
    port = SimulatedPort(SimulatedBoard(verilog, top, clock=clock, baud=BAUD))
    key = keys.generate(64, seed=1)
    with SerialDevice(port) as device:
        scheduler = Scheduler(Cluster(device))
        requests = [scheduler.private(key, pow(x, key.e, key.n)) for x in (5, 6)]
        done = list(scheduler.completed())
    assert sorted(one.result.value for one in done) == [5, 6]
    assert {one.result.core for one in requests} == {0, 1}


def test_files_of_a_board(monkeypatch, tmp_path):
    """Those that are beside the bitstream, which takes minutes and is not made here."""
    made = []

    def write_bitstream(verilog, top, board, folder, *, repeated):
        made.append((f"module {top}" in verilog, repeated))
        path = folder / "x.bit"
        return BoardResult(
            board="ulx3s",
            device="a device",
            clock_mhz=25.0,
            fmax_mhz=80.0,
            utilisation={},
            bitstream=path,
            size=0,
            sha256="",
            files=(path,),
            tools={},
        )

    monkeypatch.setattr(board_files, "write_bitstream", write_bitstream)
    choice = choose("cluster", {"cores": "2", "max_bits": "64", "link_registers": "1"})
    board_files.build_board_cluster(choice, BOARDS["ulx3s"], tmp_path)
    assert made == [(True, (FRONT_END, NODE))]
    readme = (tmp_path / "README.md").read_text("utf-8")
    assert "# 2 engines of fdfm on ULX3S" in readme
    assert "| R1 | button | F1 (fire 1) | resets everything |" in readme
    report = json.loads((tmp_path / "report.json").read_text("utf-8"))
    assert report["command"].endswith(" --board ulx3s -o DIR --stamp")
    assert f" {report['command'].replace('DIR', '.')}\n" in readme
