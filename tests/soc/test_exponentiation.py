"""x^e mod m by the real firmware: in software and on the accelerator, on both buses."""

import json
from dataclasses import replace

import pytest

from coprime import cli
from coprime.bus.kinds import Bus
from coprime.catalog import choose
from coprime.device.base import DeviceError
from coprime.engine.contract import Command
from coprime.flow.tool_errors import ToolError
from coprime.runs.numbers import random_numbers
from coprime.soc import decryption, exponentiation, firmware
from coprime.soc.exponentiation import (
    MAX_BITS,
    ExponentiationRun,
    FirmwareRun,
    run_exponentiation,
)

pytestmark = pytest.mark.xdist_group("RISC-V system with fdfm")

VERILOG = {}


@pytest.fixture(autouse=True)
def verilog_made_once(monkeypatch):
    real = exponentiation.system_verilog

    def kept(choice, **settings):
        name = choice and choice.command("build"), *settings.items()
        return VERILOG.get(name) or VERILOG.setdefault(name, real(choice, **settings))

    monkeypatch.setattr(exponentiation, "system_verilog", kept)


@pytest.fixture(autouse=True)
def soon(monkeypatch, request):
    """A firmware that hangs fails its test soon."""
    if request.node.get_closest_marker("slow") is None:
        monkeypatch.setattr(decryption, "_CYCLE_LIMIT", 10_000_000)


@pytest.fixture(autouse=True)
def toolchain():
    try:
        return firmware.find_toolchain()
    except ToolError as error:
        pytest.skip(str(error))


def numbers(bits, exponents="worst", seed=1):
    drawn = random_numbers(Command.MODEXP, bits, seed, exponents=exponents)
    return drawn["x"], drawn["e"], drawn["m"]


def check(run):
    """Every result is Python's, and the parts of the cycles make up the whole."""
    assert run.right
    assert run.firmware.transcript.startswith(f"exponentiation of {run.bits} bits\n")
    if run.accelerator is not None:
        assert run.interrupts == 1
        assert run.engine == run.predicted
        of = run.cycles
        parts = ("modulus in", "exponent and base in, start", "waiting", "result out")
        assert sum(of[part] for part in parts) == run.accelerator
        assert run.engine + run.moving == run.accelerator > of["waiting"] > run.engine
    assert sum((run.accelerator or 0, run.software or 0)) < run.firmware.total


@pytest.mark.matrix
def test_both_ways_on_both_buses():
    runs = {
        bus: run_exponentiation(
            choose("fdfm", {}), *numbers(128), bus=bus, software=bus is Bus.AXI4
        )
        for bus in Bus
    }
    for run in runs.values():
        check(run)
    lite, full = runs[Bus.AXI4_LITE], runs[Bus.AXI4]
    assert lite.engine == full.engine
    assert full.moving < lite.moving
    assert lite.speedup is lite.software is None
    assert full.speedup == full.software / full.accelerator > 1
    assert f"{full.speedup:.1f} times as fast as software" in full.table()
    assert f"with the accelerator on AXI4 {full.accelerator:>{51 - 29},}\n" in full.table()


@pytest.mark.matrix
@pytest.mark.parametrize("bits", [65, 96])
def test_random_exponents_in_software(bits):
    x, e, m = numbers(bits, "random", seed=3)
    for power in (e, 1, e >> 40):
        run = run_exponentiation(None, x, power, m)
        check(run)
        assert run.engine is run.moving is run.predicted is None


@pytest.mark.clients
@pytest.mark.parametrize("bus", list(Bus))
@pytest.mark.parametrize(
    ("family", "settings", "bits"),
    [
        ("karatsuba", {"word": "64", "max_bits": "1024", "exponentiator": "left-to-right"}, 1024),
        ("karatsuba", {}, MAX_BITS),
        ("compact", {"max_bits": "512"}, 512),
        ("ring", {"max_bits": "512"}, 512),
        ("montgomery-r2", {"max_bits": "300"}, 300),
        ("interleaved-csa", {"max_bits": "512"}, 512),
    ],
)
def test_families(family, settings, bits, bus):
    choice = choose(family, settings)
    check(run_exponentiation(choice, *numbers(bits, "random"), bus=bus, software=False))


@pytest.mark.clients
@pytest.mark.parametrize("family", ["compression", "direct"])
def test_fixed_moduli(family):
    choice = choose(family, {"modulus": "2^61 - 1"})
    m = choice.design.capabilities.fixed_modulus
    check(run_exponentiation(choice, m - 2, m // 3, m, bus=Bus.AXI4))


def test_what_the_accelerator_refuses_is_told(monkeypatch):
    x, e, m = numbers(128)
    real = decryption.run_program

    def run_program(verilog, program, job, progress):
        return real(verilog, program, [*job[:1], job[1] - 1, *job[2:]])  # m is longer than this

    monkeypatch.setattr(decryption, "run_program", run_program)
    with pytest.raises(
        DeviceError, match="before its end; its last output: the accelerator failed: "
    ):
        run_exponentiation(choose("fdfm", {}), x, e, m, software=False)


@pytest.mark.parametrize(
    ("x", "e", "m"), [(0, 3, 16), (15, 3, 15), (-1, 3, 15), (2, 0, 15), (2, 16, 15)]
)
def test_numbers_are_checked(x, e, m):
    with pytest.raises(ValueError, match=r"m must be odd, x in 0\.\.m - 1, and e 1 or more"):
        run_exponentiation(choose("fdfm", {}), x, e, m)


def test_lengths_are_checked():
    m = (1 << MAX_BITS) + 1
    with pytest.raises(ValueError, match="numbers of up to 2048 bits, not 2049"):
        run_exponentiation(choose("karatsuba", {"max_bits": "4096"}), 2, 3, m)
    with pytest.raises(ValueError, match=r"takes moduli of up to 128 bits \(not 129\)"):
        run_exponentiation(choose("fdfm", {"max_bits": "128"}), 2, 3, (1 << 128) + 1)


@pytest.mark.matrix
def test_command(capsys, monkeypatch):
    words = ["soc", "fdfm", "--operation", "modexp", "--bits", "128", "--no-software"]
    words += ["--bus", "axi4", "--exponents", "worst"]
    assert cli.main([*words, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert (record["operation"], record["bus"], record["bits"]) == ("modexp", "axi4", 128)
    assert record["right"] is True
    assert record["accelerator"] == record["engine"] + record["moving"]
    assert record["engine"] == record["predicted_engine"]
    assert record["software"] is record["speedup"] is None

    # The same without JSON; and a wrong result, or other cycles than predicted, are failures.
    x, e, m = numbers(128)
    printed = FirmwareRun(record["compiler"], record["transcript"], record["total"])
    run = ExponentiationRun(
        *(choose("fdfm", {}), Bus.AXI4, 128, pow(x, e, m), printed, record["predicted_engine"])
    )
    for given, status in (
        (run, 0),
        (replace(run, expected=run.expected ^ 1), 1),
        (replace(run, predicted=run.predicted + 1), 1),
    ):
        monkeypatch.setattr(exponentiation, "run_exponentiation", lambda *_, g=given, **__: g)
        assert cli.main(words) == status
        out = capsys.readouterr().out
        assert given.firmware.transcript in out
        assert f"moving data, driver, interrupt{record['moving']:>19,}" in out


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("fdfm --operation modexp --key key.pem", "--key is for RSA: --operation modexp takes"),
        ("fdfm --operation modexp --bits 64 --message Hi.", "--message is for RSA"),
        ("fdfm --operation modexp --bits 4096", "up to 2048 bits, not 4096"),
        ("fdfm --operation modexp --bits 1", "bits must be in 2.."),
        ("fdfm --operation multiply --bits 64", "there is no 'multiply'"),
        ("fdfm --operation modexp --bits 64 --padding pkcs1", "--padding is for RSA"),
        ("fdfm --operation modexp", "name the length of the modulus and the exponent: --bits N"),
        ("fdfm --bits 256 --exponents worst", "--exponents is for numbers without a key: add"),
        ("fdfm --operation encrypt --bits 256 --bus axi4", "on axi4-lite, as in the thesis"),
    ],
)
def test_bad_input(capsys, words, text):
    try:
        status = cli.main(["soc", *words.split()])
    except SystemExit as error:
        status = error.code
    assert status == 2
    assert text in capsys.readouterr().err
