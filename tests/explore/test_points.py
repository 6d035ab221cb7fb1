"""Results files."""

import dataclasses

import pyarrow
import pytest
from pyarrow import parquet

from coprime.explore.points import SCHEMA, Point, read_points, write_points

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
    assert table.schema == SCHEMA
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
