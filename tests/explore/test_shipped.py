"""The measurements that come with Coprime: complete, and still true."""

import random
import shlex
import subprocess
import sys
from dataclasses import replace

import pytest
from coprime_evidence.papers.published import Computed, Derived, tables
from coprime_evidence.report.side_by_side import commands_of, compare, find_point
from coprime_evidence.sources import sources
from coprime_evidence.sweeps.specification import AreaTask, read_specification
from coprime_evidence.sweeps.sweep import request_of
from coprime_evidence.sweeps.worker import measure

from bench.records import Record, read_records
from coprime.bus.kinds import Bus
from coprime.catalog import CALL_FAMILIES, CLUSTER, FAMILIES, ClusterChoice, choose_engine
from coprime.cells.target import Target
from coprime.engine.contract import Command
from coprime.explore.choose import Budget, choose
from coprime.explore.rebuild import area_command
from coprime.explore.shipped import SHIPPED, TO_CHOOSE, find, measured_points, shipped_points
from coprime.flow.part_names import ALONE, SYSTEM, UNIT_GATE
from coprime.flow.parts import build_command
from coprime.runs.execution import predict_operation
from coprime.runs.numbers import random_numbers
from coprime.runs.single_multiplication import predict_multiplication
from tests.cli.command import run_json

FOUR = ("FDFM", "BITSERIAL", "COMPRESSION", "KARATSUBA")


def choice_of(point):
    settings = {name: str(value) for name, value in point.parameters.items()}
    return choose_engine(point.family, settings)


def work_of(point):
    parameters = tuple(sorted(dict(point.parameters).items()))
    return point.family, parameters, point.size, point.operation


def on_curves(point):
    if point.operation in ALONE.values() or point.family in CALL_FAMILIES:
        return False
    return Command[point.operation].operation.setting is not None


def test_it_has_what_its_specifications_ask_for():
    """Each row names those that ask for it, and nobody asks for a row that is not there."""
    asked = {}
    for name in (*TO_CHOOSE, "papers"):
        for planned in read_specification(name):
            asked.setdefault(request_of(planned), []).append(name)
    rows = {point.request: sorted(point.specifications.split()) for point in measured_points()}
    assert rows == {request: sorted(names) for request, names in asked.items()}
    assert len(measured_points()) == len(rows)
    assert SHIPPED.stat().st_size < 1_000_000


def test_what_is_measured_for_the_papers_is_not_chosen():
    """Their designs are the papers', and no better than ours: `choose` proposes none of them."""
    of_papers = [p for p in measured_points() if p.specifications == "papers"]
    assert len(of_papers) > 200
    assert not {*map(id, of_papers)} & {*map(id, shipped_points())}
    planned = [one for name in TO_CHOOSE for one in read_specification(name)]
    assert {point.request for point in shipped_points()} <= {*map(request_of, planned)}


@pytest.mark.parametrize("target", ["xc7", "ecp5"])
@pytest.mark.parametrize("family", ["compact", "ring"])
@pytest.mark.parametrize("operation", ["ECDSA_SIGN", "ED_BASE_MULTIPLY", "X_MULTIPLY"])
@pytest.mark.parametrize("bits", [2048, 3072, 4096])
def test_rsa_and_curves_in_one_accelerator(target, family, operation, bits):
    """What people ask for first; ECDSA on P-256, P-384 and P-521."""
    lengths = [256, 384, 521] if operation == "ECDSA_SIGN" else [255, 448]
    found = choose(
        [point for point in shipped_points() if point.family == family],
        wanted={"RSA_PRIVATE": bits, operation: lengths},
        target=target,
    )
    assert found and all(one.point.parameters["max_bits"] >= bits for one in found)


def test_no_figure_of_the_four_papers_is_missing():
    """Each one that rests on a measurement is there, in what comes with Coprime."""
    missing = [
        (table.paper.name, table.number, line.row, line.quantity, own.how)
        for table in tables()
        if table.paper.name in FOUR
        for line in compare(table, measured_points())
        for own in line.measurements
        if own.value is None or "not in these results" in own.how
    ]
    assert missing == []


def test_every_design_is_in_the_catalogue():
    for point in measured_points():
        choice = choice_of(point)
        assert choice.values == dict(point.parameters)
        if point.family in CALL_FAMILIES:
            assert point.size in choice.design.interface.parameter_sets or point.bits == 8192
        if point.part == CLUSTER:
            core = replace(choice, bare=point.node == "lean")
            choice = ClusterChoice(core, point.cores, point.link_registers)
        target = Target.GENERIC if point.target == UNIT_GATE else Target(point.target)
        built = build_command(choice, target, Bus(point.bus), ())
        assert point.command == f"{built} -o DIR"
        assert point.status == "ok"


def predicted(point):
    design = choice_of(point).design
    if point.family in CALL_FAMILIES:
        call, source = design.interface.call[point.operation], random.Random(point.seed)
        inputs = design.interface.inputs(call, point.parameter_set, source, point.bits // 8)
        return design.predict(call, point.parameter_set, inputs)
    if point.operation in ALONE.values():
        return predict_multiplication(design, point.bits, point.operation)
    command, capabilities = Command[point.operation], design.capabilities
    operands = random_numbers(
        *(command, point.bits, point.seed),
        exponents=point.exponents,
        modulus=capabilities.fixed_modulus,
        checked=capabilities.checked,
    )
    return predict_operation(design, command, operands)


def check_cycles(points):
    """What was counted in simulation, and what is predicted now."""
    works = {(*work_of(point), point.exponents, point.part == SYSTEM): point for point in points}
    assert works
    for point in works.values():
        assert predicted(point).cycles == point.predicted_cycles
        if point.part == SYSTEM:  # its engine's, and what the processor adds
            assert point.predicted_cycles < point.cycles < point.software_cycles
        else:
            assert point.cycles in (None, point.predicted_cycles)


@pytest.mark.matrix
@pytest.mark.parametrize("bits", [512, pytest.param(1024, marks=pytest.mark.route)])
def test_cycles_up_to_a_length(bits):
    check_cycles(one for one in measured_points() if one.bits <= bits and not on_curves(one))


@pytest.mark.route
def test_cycles_of_more_bits():
    check_cycles(one for one in measured_points() if one.bits > 1024)


@pytest.mark.route
def test_cycles_on_short_curves():
    check_cycles(
        one
        for one in measured_points()
        if on_curves(one) and one.family == "compact" and one.bits <= 256
    )


@pytest.mark.route
def test_cycles_on_all_curves():
    check_cycles(one for one in measured_points() if on_curves(one))


def check_area(point):
    task = AreaTask(
        *(point.family, tuple(point.parameters.items())),
        *(point.target, point.part, (), ""),
        bus=point.bus,
    )
    again = measure(task, sources())
    assert again.reason is None
    assert again.columns == {name: getattr(point, name) for name in again.columns}


@pytest.mark.route
def test_an_area_is_measured_again():
    choice = FAMILIES["compact"].choose({"max_bits": "1024"})
    check_area(find(choice, "xc7", "engine")[0])


def known_designs():
    """A point of each design that was mapped and of whose Verilog there is a digest."""
    designs = {
        (point.family, tuple(point.parameters.items()), point.target, point.part, point.bus): point
        for point in measured_points()
        if point.verilog is not None
    }
    return list(designs.values())


@pytest.mark.route
def test_the_commands_of_a_figure_measure_it_again(capsys):
    """A few others for other sources, of those that take no minutes."""
    points = measured_points()
    known = [
        (one, point)
        for table in tables()
        if table.paper.name in FOUR
        for row in table.rows
        for found in row.here.values()
        for source in found
        if not isinstance(source, Derived)
        for one in (source.of if isinstance(source, Computed) else (source,))
        if one.bits <= 256
        and one.part != CLUSTER
        and one.column not in ("fmax_mhz", "milliseconds", "area_time")
        and (point := find_point(one, points)) is not None
        and point.fmax_mhz is None
    ]
    assert len(known) > 100
    for one, point in random.Random(sources()).sample(known, 5):
        (command,) = commands_of(one, point)
        record = run_json(capsys, *shlex.split(command)[1:])
        assert record[one.column] == getattr(point, one.column), command


def check_digest(point):
    """Its area and clock are of the Verilog that the design has today."""
    today = Record(name="shipped", command=area_command(point)).verilog_today()
    assert today == point.verilog, (
        f"{area_command(point)} was measured on other Verilog: sweep again, or mark it with"
        " `python -m bench.figures --mark`"
    )


def test_a_design_is_as_it_was_measured():
    """Another one for other sources; not on curves, whose programs take seconds."""
    families = ("compact", "fdfm", "karatsuba", "shake")
    known = [point for point in known_designs() if point.family in families]
    check_digest(random.Random(sources()).choice([p for p in known if not on_curves(p)]))


@pytest.mark.route
def test_all_designs_are_as_they_were_measured():
    for point in known_designs():
        check_digest(point)


def test_designs_of_equal_verilog_have_equal_areas_on_a_device():
    """Those of the pages' records, too, which were measured by themselves."""
    areas = {}
    for one in (*measured_points(), *read_records().values()):
        if one.verilog is not None:
            area = (one.lut, one.lutram, one.ff, one.carry, one.dsp, one.bram)
            assert areas.setdefault((one.verilog, one.device), area) == area


@pytest.mark.route
def test_some_mapped_areas_are_measured_again():
    """Others for other sources; that all are of today's Verilog is tested above."""
    known = [point for point in known_designs() if point.fmax_mhz is None]
    for point in random.Random(sources()).sample(known, 5):
        check_area(point)


def test_find():
    choice = FAMILIES["compact"].choose({"max_bits": "2048"})
    points = find(choice, "xc7", "accelerator")
    assert {point.operation for point in points} == {"RSA_PRIVATE", "RSA_PUBLIC", "MODEXP"}
    assert len({(point.lut, point.ff, point.fmax_mhz) for point in points}) == 1
    assert points[0].lut > find(choice, "xc7", "engine")[0].lut
    assert find(choice, "unit-gate", "engine") == []
    assert find(choice, "xc7", "accelerator", Bus.AXI4) == []
    assert find(FAMILIES["compact"].choose({"max_bits": "2047"}), "xc7", "engine") == []


def test_the_design_for_one_dsp_slice():
    best, other, *_ = choose(
        shipped_points(), wanted={"RSA_PRIVATE": 2048}, target="ecp5", budget=Budget(max_dsp=1)
    )
    assert (best.point.family, best.point.predicted_cycles) == ("compact", 10_832_703)
    assert (other.point.family, other.point.predicted_cycles) == ("fdfm", 24_229_650)
    assert best.point.lut > best.beside.lut


def fastest(operation, target, slices):
    best, *_ = choose(
        shipped_points(), wanted={operation: 256}, target=target, budget=Budget(max_dsp=slices)
    )
    return best.point.family, best.point.dsp


@pytest.mark.parametrize(("target", "slices"), [("xc7", 18), ("ecp5", 6)])
def test_the_design_for_signatures_at_each_budget(target, slices):
    """On ecp5 the one of 18 slices, without `delay=1`, has a clock with which it is no faster."""
    chosen = {budget: fastest("ECDSA_SIGN", target, budget) for budget in (1, 5, 6, 18)}
    assert chosen == {1: ("compact", 1), 5: ("compact", 1), 6: ("ring", 6), 18: ("ring", slices)}


def test_a_cluster_is_chosen_by_what_all_cores_do():
    """They are stamped; each core takes the cycles of its engine by itself."""
    found = choose(shipped_points(), wanted={"RSA_PRIVATE": 2048}, target="ecp5", part=CLUSTER)
    clusters = [(one.point.family, one.point.cores, one.point.predicted_cycles) for one in found]
    assert clusters == [("ring", 6, 1_322_312), ("compact", 26, 10_832_703)]
    for one in found:
        assert one.point.stamped and one.point.predicted_cycles == one.beside.predicted_cycles
        assert one.point.lut > one.point.cores * one.beside.lut


def test_choosing_waits_for_no_large_library():
    """It answers in a second, most of which is Python's own start and Amaranth's import."""
    script = (
        "import sys; from coprime.cli import main;"
        "status = main(['choose', '--bits', '2048', '--target', 'ecp5', '--max-dsp', '1']);"
        "print(sorted({'pyarrow', 'distributed', 'pandas', 'pydantic'} & set(sys.modules)), status)"
    )
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.startswith("compact blinding=none max_bits=2048: ")
    assert done.stdout.splitlines()[-1] == "[] 0"
    assert done.stderr.startswith("from the measurements that come with Coprime: coprime 0.")
