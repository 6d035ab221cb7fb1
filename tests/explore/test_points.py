"""Results files."""

import dataclasses

import pyarrow
import pytest
from pyarrow import parquet

from coprime.explore.points import COLUMNS, Point, read_points, unproved, write_points
from coprime.explore.rebuild import area_command, cycles_command

POINT = Point(
    family="fdfm",
    paper="FDFM",
    parameters={"max_bits": 2048},
    bits=2048,
    operation="RSA_PRIVATE",
    exponents="worst",
    seed=1,
    target="ecp5",
    part="engine",
    lut=900,
    bram=0.5,
    fmax_mhz=120.5,
    status="ok",
    tools={"yosys": "1"},
    command="coprime build fdfm",
    key="0",
)


def test_points_come_back(tmp_path):
    path = tmp_path / "results.parquet"
    write_points([POINT, POINT], path)
    assert read_points(path) == [POINT, POINT]
    table = parquet.read_table(path)
    assert table.column_names == list(COLUMNS)
    types = {name: str(table.schema.field(name).type) for name in ("bits", "bram", "tools")}
    assert types == {"bits": "int64", "bram": "double", "tools": "string"}
    assert table.column("parameters").to_pylist() == ['{"max_bits": 2048}'] * 2
    assert [entry.name for entry in tmp_path.iterdir()] == ["results.parquet"]


def test_a_cluster_is_told_apart_by_its_cores(tmp_path):
    clusters = [dataclasses.replace(POINT, part="cluster", cores=cores) for cores in (320, 8)]
    assert len({one.identity for one in (POINT, *clusters)}) == 3
    assert sorted(clusters, key=lambda one: one.identity) == clusters[::-1]
    assert POINT.settings == "max_bits 2048"
    assert clusters[0].settings == "cores 320, max_bits 2048"
    path = tmp_path / "results.parquet"
    write_points(clusters, path)
    assert read_points(path) == clusters


@pytest.mark.parametrize("name", ["results.parquet", "results.csv"])
def test_a_stamped_cluster(tmp_path, name):
    placed = dataclasses.replace(POINT, part="cluster", cores=8, link_registers=1)
    stamped = dataclasses.replace(placed, stamped=True)
    assert placed.settings == "cores 8, link_registers 1, max_bits 2048"
    assert stamped.settings == f"stamped, {placed.settings}"
    assert stamped.identity != placed.identity
    write_points([placed, stamped], tmp_path / name)
    assert read_points(tmp_path / name) == [placed, stamped]
    chain = "-p engine=fdfm -p cores=8 -p link_registers=1 -p max_bits=2048"
    command = f"coprime synth cluster {chain} --target {POINT.target}"
    assert command in area_command(placed)
    assert area_command(stamped).endswith(" --stamp")
    assert "--seeds" not in area_command(stamped)


@pytest.mark.parametrize("name", ["results.parquet", "results.csv"])
def test_buses_and_systems(tmp_path, name):
    lite = dataclasses.replace(POINT, part="accelerator", target="xc7", fmax_mhz=None)
    bursts = dataclasses.replace(lite, bus="axi4")
    system = dataclasses.replace(
        *(bursts,), part="system", target="generic", operation="MODEXP", software_cycles=77
    )
    assert len({one.identity for one in (lite, bursts, system)}) == 3
    assert (lite.settings, bursts.settings) == ("max_bits 2048", "max_bits 2048, bus axi4")
    assert area_command(bursts) == f"{area_command(lite)} --bus axi4"
    assert area_command(system) == ""
    assert cycles_command(lite) == cycles_command(bursts)
    assert cycles_command(system) == (
        "coprime soc fdfm -p max_bits=2048 --operation modexp --bus axi4 --bits 2048 --seed 1"
        " --exponents worst"
    )
    mapped = dataclasses.replace(system, target="xc7", bus="axi4-lite")
    command = "coprime synth fdfm -p max_bits=2048 --target xc7 --part system"
    assert area_command(mapped) == command
    write_points([lite, bursts, system], tmp_path / name)
    assert read_points(tmp_path / name) == [lite, bursts, system]


def test_a_file_from_before_buses(tmp_path):
    path = tmp_path / "results.parquet"
    write_points([POINT], path)
    table = parquet.read_table(path)
    parquet.write_table(table.drop_columns(["bus", "software_cycles"]), path)
    assert read_points(path) == [POINT]
    assert (POINT.bus, POINT.software_cycles) == ("axi4-lite", None)


def test_a_file_from_before_clusters(tmp_path):
    """It has no column of cores, as none of its points is a cluster; any other must be there."""
    path = tmp_path / "results.parquet"
    write_points([POINT], path)
    table = parquet.read_table(path)
    parquet.write_table(table.drop_columns(["cores"]), path)
    assert read_points(path) == [POINT]
    assert POINT.cores == 0
    parquet.write_table(table.drop_columns(["cores", "part"]), path)
    with pytest.raises(ValueError, match="holds no measured points: it has no column part"):
        read_points(path)


def test_no_points(tmp_path):
    path = tmp_path / "results.parquet"
    write_points([], path)
    assert read_points(path) == []


def test_other_files(tmp_path):
    path = tmp_path / "results.parquet"
    with pytest.raises(FileNotFoundError):
        read_points(path)
    path.write_text("no Parquet")
    with pytest.raises(ValueError, match=r"results\.parquet is not a Parquet file"):
        read_points(path)
    parquet.write_table(pyarrow.table({"x": [1]}), path)
    with pytest.raises(ValueError, match="holds no measured points: it has no column family"):
        read_points(path)


def test_points_come_back_from_csv(tmp_path):
    """What was not measured is not an empty text, and numbers keep all of their digits."""
    path = tmp_path / "results.csv"
    odd = dataclasses.replace(POINT, paper="", reason='says "no", twice\nno', fmax_mhz=0.1 + 0.2)
    write_points([odd, POINT], path)
    assert read_points(path) == [odd, POINT]
    assert path.read_text().splitlines()[0].startswith("family,paper,parameters,bits,")


def test_other_kinds_of_file(tmp_path):
    for name in ("results", "results.xlsx", "results.parquet.txt"):
        with pytest.raises(ValueError, match=r"ends in \.parquet or \.csv, and not as .*results"):
            write_points([POINT], tmp_path / name)
        with pytest.raises(ValueError, match=r"ends in \.parquet or \.csv"):
            read_points(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"PAR1 and no more",
        b"a,b\n1,2\n",
        b"family,bits\nfdfm",
        b"family,bits\nx,y",
        b"\xff\xfe\x00",
    ],
)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_what_is_no_results_file(tmp_path, content, kind):
    path = tmp_path / f"results.{kind}"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"is not a (CSV|Parquet) file|holds no measured points"):
        read_points(path)


def test_columns_of_another_type(tmp_path):
    path = tmp_path / "results.parquet"
    write_points([POINT], path)
    table = parquet.read_table(path)
    place = table.column_names.index("bits")
    parquet.write_table(table.set_column(place, "bits", pyarrow.array(["many"])), path)
    with pytest.raises(ValueError, match="holds no measured points"):
        read_points(path)


def test_a_damaged_file(tmp_path):
    path = tmp_path / "results.parquet"
    write_points([POINT] * 100, path)
    whole = path.read_bytes()
    for middle in (8, len(whole) // 2, len(whole) - 12):
        path.write_bytes(whole[:middle] + b"\xff" * 4 + whole[middle + 4 :])
        with pytest.raises(ValueError, match="is not a Parquet file, or not whole"):
            read_points(path)


def test_points_without_a_digest_are_counted():
    one = POINT
    assert unproved([one, one]) == "; 2 of 2 were not compared with today's hardware"
    assert unproved([dataclasses.replace(one, verilog="0123456789abcdef")]) == ""
