"""Packages of engines of byte strings: every file from slots and calls alone."""

import json
import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from cmsis_svd import SVDParser

from coprime.bus.kinds import Bus
from coprime.bus.shared_registers import CALL_REGISTERS
from coprime.calls.interface import WIPE
from coprime.catalog import choose_calls
from coprime.cells.target import Target
from coprime.device.simulated import open_simulation
from coprime.engine.contract import Error
from coprime.model.health import HealthModel
from coprime.package.describe import describe
from coprime.package.package import package, write_package
from coprime.package.predicted import PredictedOnce
from coprime.package.testbench.random_bytes import noise_samples
from coprime.padding.scheme import Padding
from coprime.random.kinds import RandomSource
from coprime.random.seed_material import ENTROPY
from tests.calls.vault import INTERFACE, VAULT
from tests.drivers.harness import CALLS, DRIVER, compile_c
from tests.package import test_example as example
from tests.package.test_testbench import ICARUS, assert_passes, expected_cycles, simulate

SHAKE = choose_calls("shake", {"slices": "8"})
LATTICE = choose_calls("lattice", {"sets": "ml-kem-512"})
CHOICES = {"vault": VAULT, "shake": SHAKE}


@pytest.fixture(scope="module", params=CHOICES)
def contents(request):
    """The description of a design, and its files."""
    own = describe(CHOICES[request.param], Target.XC7)
    return own, package(own)


@ICARUS
@pytest.mark.parametrize("bus", Bus)
def test_the_testbench_passes(tmp_path, bus):
    write_package(VAULT, Target.GENERIC, tmp_path, bus)
    assert_passes(tmp_path)


@ICARUS
@pytest.mark.clients
def test_the_testbench_with_a_source_in_the_hardware_passes(tmp_path):
    choice = replace(VAULT, source=RandomSource.SEEDED)
    write_package(choice, Target.GENERIC, tmp_path)
    assert "s_axis_random" not in (tmp_path / f"{choice.module_name}.v").read_text()
    assert_passes(tmp_path)


@pytest.mark.clients
def test_the_testbench_with_modelled_noise_passes(tmp_path):
    """With ports for a noise source, and with ring oscillators of a target, which it replaces."""
    choice = replace(VAULT, source=RandomSource.TRNG)
    for target in (Target.GENERIC, Target.XC7):
        folder = tmp_path / target.value
        write_package(choice, target, folder)
        text = (folder / f"{choice.module_name}.v").read_text()
        assert ("inverter_3_10" in text) == (target is Target.XC7)
        assert ("noise_valid" in text) == (target is Target.GENERIC)
        assert_passes(folder, "verilator")


def test_a_package_says_that_no_entropy_has_been_measured():
    own = describe(replace(VAULT, source=RandomSource.TRNG), Target.XC7)
    files = package(own)
    for path in ("README.md", "doc/data_sheet.md", own.verilog):
        assert "has not been measured on any device" in files[path].replace("been\n   ", "been ")
    rings = f"{own.name}_noise.xdc"
    assert "ALLOW_COMBINATORIAL_LOOPS" in files[rings] and rings in files["component.xml"]


def test_modelled_noise_passes_the_tests_of_noise():
    model = HealthModel(ENTROPY)
    assert not any(map(model.take, noise_samples()))


CORES = VAULT.family.choose({"cores": "3"})


@pytest.mark.matrix
@ICARUS
@pytest.mark.parametrize("bus", Bus)
def test_the_testbench_of_several_cores_passes(tmp_path, bus):
    write_package(CORES, Target.GENERIC, tmp_path, bus)
    assert_passes(tmp_path)


@pytest.mark.matrix(quick=1)
@ICARUS
@pytest.mark.parametrize("number", [0, 1])
def test_the_testbench_finds_a_core_that_is_always_selected(tmp_path, number):
    write_package(CORES, Target.GENERIC, tmp_path)
    path = tmp_path / f"{CORES.module_name}.v"
    text = path.read_text()
    [right] = re.findall(r"selected <= registers__write_data\S*;", text)
    path.write_text(text.replace(right, f"selected <= 2'h{number};"))
    status, lines = simulate(tmp_path, FIRST=1)
    assert status != 0
    assert any(line.startswith("FAIL  ") for line in lines)


@pytest.mark.clients
@pytest.mark.parametrize("bus", Bus)
def test_several_cores_in_verilator(tmp_path, bus):
    write_package(CORES, Target.GENERIC, tmp_path, bus)
    assert_passes(tmp_path, "verilator")


@pytest.mark.clients
def test_several_cores_with_a_source_of_random_bytes(tmp_path):
    write_package(replace(CORES, source=RandomSource.SEEDED), Target.GENERIC, tmp_path)
    assert_passes(tmp_path, "verilator")


@pytest.mark.clients
@pytest.mark.parametrize("bus", Bus)
@pytest.mark.parametrize("family", ["shake", "lattice"])
def test_the_quick_testbench_of_two_cores_passes(tmp_path, family, bus):
    settings = {"lattice": {"sets": "ml-kem-512"}}.get(family, {})
    choice = choose_calls(family, {**settings, "cores": "2"})
    write_package(choice, Target.GENERIC, tmp_path, bus)
    status, lines = simulate(tmp_path, "verilator", QUICK=1)
    assert status == 0, lines[-30:]


def test_the_data_sheet_of_several_cores():
    files = package(describe(CORES, Target.GENERIC))
    assert "\n3 cores: hides texts." in files["doc/data_sheet.md"]
    assert "| cores | 3 |" in files["doc/data_sheet.md"]
    assert "drivers/src/coprime_call_cores.c" in files
    assert "drivers/src/coprime_call_cores.c" not in package(describe(VAULT, Target.GENERIC))
    assert "CORE_SELECT" in files[f"{CORES.module_name}.svd"]


@ICARUS
@pytest.mark.clients
@pytest.mark.parametrize("target", Target)
def test_the_testbench_of_shake_passes(tmp_path, target):
    bus = Bus.AXI4 if target is Target.XC7 else Bus.AXI4_LITE
    write_package(SHAKE, target, tmp_path, bus)
    assert_passes(tmp_path)


@ICARUS
@pytest.mark.clients
@pytest.mark.parametrize("target", [Target.GENERIC, Target.XC7, Target.ECP5])
def test_the_quick_testbench_of_lattice_passes(tmp_path, target):
    """On xc7 its DSP slice adds C without a pre-adder, which the model of the cell has to know."""
    write_package(LATTICE, target, tmp_path, Bus.AXI4 if target is Target.XC7 else Bus.AXI4_LITE)
    status, lines = simulate(tmp_path, QUICK=1)
    assert status == 0, lines[-30:]


@pytest.mark.clients
def test_the_testbench_of_lattice_passes(tmp_path):
    write_package(LATTICE, Target.GENERIC, tmp_path)
    assert_passes(tmp_path, "verilator")


@pytest.mark.clients
@pytest.mark.parametrize("bus", Bus)
def test_the_quick_testbench_of_ml_dsa_passes(tmp_path, bus):
    choice = choose_calls("lattice", {"schemes": "ml-dsa"})
    write_package(choice, Target.GENERIC, tmp_path, bus)
    status, lines = simulate(tmp_path, "verilator", QUICK=1)
    assert status == 0, lines[-30:]


def test_calls_with_the_same_inputs_are_predicted_once():
    made = []

    class Design:
        def predict(self, call, parameter_set, inputs, random=b""):
            made.append((call.name, parameter_set, inputs, random))
            return len(made)

    once, (call, *_) = PredictedOnce(Design()), INTERFACE.calls
    assert once.predict(call, "", {"a": b"1", "b": b"2"}) == 1
    assert once.predict(call, "", {"b": b"2", "a": b"1"}) == 1
    assert once.predict(call, "", {"a": b"1", "b": b"2"}, b"3") == 2
    assert once.predict(call, "", {"a": b"2", "b": b"2"}) == 3


@pytest.mark.clients
@pytest.mark.parametrize("choice", CHOICES)
def test_verilator(tmp_path, choice):
    write_package(CHOICES[choice], Target.GENERIC, tmp_path)
    assert_passes(tmp_path, "verilator")


@ICARUS
def test_quick(tmp_path):
    """Each call once; it says about how long it takes."""
    write_package(SHAKE, Target.GENERIC, tmp_path)
    status, lines = simulate(tmp_path, QUICK=1)
    assert status == 0, lines[-30:]
    found = [line for line in lines if line.startswith("PASS  ")]
    for call in SHAKE.design.interface.calls:
        assert [line for line in found if line.startswith(f"PASS  {call.name}")]
    (end,) = [line for line in lines if line.endswith(" ns")]
    cycles, about = int(end.split()[-2]) // 10, expected_cycles(lines)
    assert about / 2 < cycles < 2 * about


@ICARUS
@pytest.mark.parametrize("broken", ["expected", "cycles", "marks"])
def test_it_can_fail(tmp_path, broken):
    write_package(VAULT, Target.GENERIC, tmp_path)
    bench, design = tmp_path / "sim" / "coprime_vault_tb.v", tmp_path / "coprime_vault.v"
    if broken == "expected":
        text = bench.read_text()
        changed = re.sub(
            r'(expect_slot\("HIDE.*?\'h)(\w)',
            lambda found: found[1] + f"{int(found[2], 16) ^ 1:x}",
            text,
        )
        bench.write_text(changed)
    else:
        text = design.read_text()
        pattern, wrong = {
            "cycles": (r"cycles <= cycles \+ 1'h1;", "cycles <= cycles + 2'h2;"),
            "marks": (r"& 10'h014", "& 10'h010"),
        }[broken]
        changed = re.sub(pattern, wrong, text)
        design.write_text(changed)
    assert changed != text
    status, lines = simulate(tmp_path)
    assert status != 0
    assert "FAIL" in lines and "PASS" not in lines


def bench_of(choice):
    own = describe(choice, Target.GENERIC)
    return own.kind.bench(own)


def test_errors_of_slots_are_provoked():
    text = "".join(bench_of(one).checks for one in CHOICES.values())
    found = {Error[name] for name in re.findall(r"\bERROR_(?!NONE)(\w+)", text)}
    assert found == {
        *(Error.UNSUPPORTED, Error.OPERAND_MISSING, Error.ADDRESS, Error.SLOT_LENGTH),
        *(Error.KEY_OVERRUN, Error.NOT_READY, Error.BUSY, Error.SIGNATURE),
    }


def test_vectors_are_those_of_the_references():
    """Of each call and parameter set, with what the references say and not the predictions."""
    text = bench_of(VAULT).checks
    for name in INTERFACE.parameter_sets:
        for call in INTERFACE.calls:
            assert f'"{call.name} with {name}' in text
    assert "seed_random;" in text  # of calls that draw
    assert text.count("require_unreadable(2)") > 2  # the key stays inside


def test_registers_are_those_of_slots(contents):
    own, files = contents
    assert [one.name for one in own.registers] == [one.name for one in CALL_REGISTERS]
    root = ElementTree.fromstring(files[f"{own.name}.svd"])
    access = {one.findtext("name"): one.findtext("access") for one in root.iter("register")}
    assert access["STATUS"] == "read-only"
    assert access["DATA_WINDOW[%s]"] == "read-write"
    assert not {"MODULUS_LENGTH", "KEY_DATA", "DIGITS"} & access.keys()


def test_svd_has_calls_slots_and_parameter_sets(tmp_path, contents):
    own, files = contents
    path = tmp_path / "own.svd"
    path.write_text(files[f"{own.name}.svd"])
    (peripheral,) = SVDParser.for_xml_file(str(path)).get_device().peripherals
    assert {one.name for one in peripheral.get_registers()} >= {"SLOT", "COMPLETE", "WAITING"}
    codes = {}
    for register in ElementTree.fromstring(files[f"{own.name}.svd"]).iter("register"):
        for field in register.iter("field"):
            codes[register.findtext("name"), field.findtext("name")] = {
                value.findtext("name"): int(value.findtext("value"))
                for value in field.iter("enumeratedValue")
            }
    interface = own.kind.design.interface
    calls = {"WIPE": WIPE, **{one.name: one.code for one in interface.calls}}
    assert codes["COMMAND", "CODE"] == calls
    assert codes["SLOT", "NUMBER"] == {one.name: one.number for one in interface.slots}
    sets = {name: k for k, name in enumerate(interface.parameter_sets) if name}
    assert codes["PARAMETER_SET", "NUMBER"] == sets


def test_svd_has_what_the_accelerator_has_after_reset():
    own = describe(SHAKE, Target.GENERIC)
    with open_simulation(SHAKE) as device:
        for register in own.registers:
            if register.readable and register.name not in own.kind.changing:
                assert device.read32(register.address) == own.register_reset(register)


def test_the_package_has_the_driver_for_calls_and_none_for_numbers(contents):
    _, files = contents
    names = {path.rpartition("/")[2] for path in files if path.startswith("drivers/")}
    assert {"coprime.c", "coprime.h", "coprime_calls.c", "coprime_calls.h"} <= names
    assert not [one for one in names if "curves" in one or "keygen" in one or "cluster" in one]
    assert "coprime_calls.c" in files["README.md"]


def test_the_header_has_the_numbers(tmp_path, contents):
    own, files = contents
    interface, macro = own.kind.design.interface, own.name.upper()
    (tmp_path / f"{own.name}.h").write_text(files[f"{own.name}.h"])
    numbers = {
        **{f"{macro}_SLOT_{one.name.upper()}": one.number for one in interface.slots},
        **{f"{macro}_CALL_{one.name.upper()}": one.code for one in interface.calls},
        f"{macro}_FAMILY": interface.family_number,
    }
    if own.name == "coprime_vault":
        numbers |= {f"{macro}_BYTES_KEY_LARGE_12": 12, f"{macro}_BYTES_TEXT": 12}
        numbers |= {f"{macro}_SET_SMALL_8": 0, f"{macro}_SET_LARGE_12": 1}
    else:
        numbers |= {f"{macro}_BYTES_SHA3_384_OUTPUT": 48}
    checks = "".join(
        f'_Static_assert({name} == {value}, "{name}");\n' for name, value in numbers.items()
    )
    source = tmp_path / "numbers.c"
    source.write_text(
        f'#include "coprime_calls.h"\n#include "{own.name}.h"\n{checks}int main(void)'
        " { return coprime_error_text(0) == NULL; }\n"
    )
    compile_c(tmp_path, "numbers", f"-I{tmp_path}", source, DRIVER, CALLS)


def test_the_data_sheet_has_calls_and_slots(contents):
    own, files = contents
    record = json.loads(files["doc/data_sheet.json"])
    interface = own.kind.design.interface
    assert [one["number"] for one in record["slots"]] == [one.number for one in interface.slots]
    assert {one["call"] for one in record["calls"]} >= {one.name for one in interface.calls[:2]}
    shown = {row["property"]: row["value"] for row in record["overview"]}
    assert shown["calls"] == ", ".join(one.name for one in interface.calls)
    for row in record["calls"]:
        assert row["cycles"] > 0
    if own.name == "coprime_vault":
        assert shown["parameter sets"] == "small-8, large-12"
        access = {one["slot"]: one["access"] for one in record["slots"]}
        assert access["copy"] == "read" and access["key"] == "loaded"
    else:
        # 16,384 bytes are 121 blocks of 136; the output is in the last one's.
        (row,) = [
            one for one in record["calls"] if (one["call"], one["message"]) == ("SHA3_256", 16384)
        ]
        assert row["cycles"] == 10 + 121 * 240
        assert row["words"] == 4096 + 8


def test_it_has_a_clock_for_times():
    own = describe(SHAKE, Target.XC7, clock_mhz=100.0)
    record = json.loads(package(own)["doc/data_sheet.json"])
    for row in record["calls"]:
        assert row["microseconds"] == row["cycles"] / 100


def test_paddings_are_refused(tmp_path):
    with pytest.raises(ValueError, match="shake works on byte strings: leave --padding out"):
        write_package(SHAKE, Target.GENERIC, tmp_path, paddings=[Padding.OAEP])
    assert not list(tmp_path.iterdir())


@ICARUS
@pytest.mark.parametrize(
    ("choice", "bus", "tests"),
    [("vault", Bus.AXI4, 2), pytest.param("shake", Bus.AXI4_LITE, 6, marks=pytest.mark.clients)],
)
def test_the_example_passes(tmp_path, choice, bus, tests):
    """A test for each call without an error."""
    write_package(CHOICES[choice], Target.GENERIC, tmp_path, bus)
    status, text = example.simulate(tmp_path, "icarus")
    assert status == 0, text[-3000:]
    assert example.counts(text) == (tests, 0, 0)
