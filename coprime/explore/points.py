"""A measured point, and the files of them, Parquet or CSV: one row a point.

A point is one family with its parameters, working on one size with one operation, on one target.
The figures of two targets are of different devices: compare rows of the same `target` only.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import pyarrow
from pyarrow import csv, parquet

from coprime.flow.files import replacing

__all__ = ["SCHEMA", "Point", "check_format", "read_points", "write_points"]


@dataclass(frozen=True, kw_only=True)
class Point:
    """One measured point; a column of the results for each field, in this order.

    What was not measured (the clock of a design that is not routed, say) or has no meaning for the
    target is None. A failed point keeps what was measured all the same (the area of a design that
    does not fit the device, say): compare points whose `status` is "ok" only.
    """

    family: str
    """Name in the catalogue."""
    paper: str
    """Short name of the publication that the family implements; empty for our own."""
    parameters: Mapping[str, int | str]
    """Every parameter with its value; in Parquet JSON text with sorted keys."""
    bits: int
    """Length of the modulus in bits."""
    operation: str
    """MODMUL, MODEXP, RSA_PUBLIC or RSA_PRIVATE; of the part "multiplier" MULTIPLICATION, which is
    one multiplication, loading and unloading of its digits included; of "reduction" REDUCTION, of
    "word-multiplier" WORD_MULTIPLICATION."""
    exponents: str
    """"random": exponent and key from the seed. "worst": every bit of the exponents is 1."""
    seed: int
    """What the operands were drawn from."""
    target: str
    """xc7, ecp5 or unit-gate."""
    device: str | None = None
    """The device in words: a device family if only mapped, the exact device if placed on one."""
    part: str
    """What was mapped: "engine" alone, "accelerator" with its registers and AXI4-Lite slave, one
    "multiplier" alone, without the memory that holds its operands; for one modulus the
    "reduction" of a word, or the "word-multiplier", which reduces the product of two; or a
    "cluster" of `cores` engines on a chain, with its front end. What is said of an operation
    (cycles, utilization, time) is of one engine: a cluster does as many of them at once as it has
    cores."""
    cores: int = 0
    """Engines of a cluster, 1 or more; 0 for every other part, and where a file has no such column.
    """
    lut: int | None = None
    """LUTs occupied, as logic, memory or in carry chains."""
    lutram: int | None = None
    """LUTs of these that hold memory."""
    ff: int | None = None
    """Flip-flops."""
    carry: int | None = None
    """CARRY4 on xc7, CCU2C on ecp5."""
    dsp: int | None = None
    """DSP48E1 on xc7, MULT18X18D on ecp5."""
    bram: float | None = None
    """RAMB36E1 on xc7 (a RAMB18E1 is half of one), DP16KD on ecp5."""
    slices_estimate: int | None = None
    """Slices if all were filled."""
    fmax_mhz: float | None = None
    """Maximum clock frequency in MHz after place and route, of the best seed; None unless routed.
    """
    gate_area: float | None = None
    """Unit-gate area: unit gates of the logic, without flip-flops and memory bits."""
    gate_delay: float | None = None
    """Unit-gate delay of the longest path, in unit gates."""
    memory_bits: int | None = None
    """Bits of the memories, which unit gates do not count; for unit-gate only."""
    cycles: int | None = None
    """Clock cycles of the operation, counted in simulation; None if it was too long to simulate."""
    predicted_cycles: int | None = None
    """Clock cycles that the design's own model predicts for the same operands."""
    utilization: float | None = None
    """Part of the cycles, 0 to 1, in which the multiplier did a product that the algorithm needs.
    """
    milliseconds: float | None = None
    """Time of the operation: cycles (predicted ones if not simulated) / fmax; None unless routed.
    """
    area_time: float | None = None
    """LUTs x milliseconds where routed; for unit-gate, unit gates x unit delays x cycles. A
    cluster's is over its cores, which all work at once."""
    status: str
    """"ok" or "failed"."""
    reason: str | None = None
    """Why the point failed, in one sentence; None if it did not."""
    tools: Mapping[str, str]
    """Version of each tool that had a part in it; in Parquet JSON text with sorted keys."""
    command: str
    """The `coprime build` command line that makes this design again."""
    key: str
    """Hash of what the figures follow from: the design's Verilog, the measurement's settings and
    the tools' versions. Equal keys are the same measurement."""

    @property
    def identity(self) -> tuple[object, ...]:
        """What distinguishes the points of a sweep, in the order in which they are sorted."""
        parameters = tuple(sorted(self.parameters.items()))
        what = (self.target, self.part, self.cores)
        work = (self.operation, self.exponents, self.bits, self.seed)
        routed = self.fmax_mhz is not None
        return (self.family, *what, *work, parameters, routed, self.device or "")

    @property
    def settings(self) -> str:
        """The parameters in words, of a cluster its cores first."""
        cores = {"cores": self.cores} if self.cores else {}
        pairs = (cores | dict(self.parameters)).items()
        return ", ".join(f"{name} {value}" for name, value in pairs)


_TYPES: Mapping[object, pyarrow.DataType] = {
    str: pyarrow.string(),
    int: pyarrow.int64(),
    float: pyarrow.float64(),
    str | None: pyarrow.string(),
    int | None: pyarrow.int64(),
    float | None: pyarrow.float64(),
    Mapping[str, int | str]: pyarrow.string(),
    Mapping[str, str]: pyarrow.string(),
}
_JSON = ("parameters", "tools")
_LATER: Mapping[str, object] = {"cores": 0}
"""Columns that files of earlier versions do not have, with what holds for all of their points."""

SCHEMA = pyarrow.schema([(field.name, _TYPES[field.type]) for field in fields(Point)])
"""The columns of a results file."""


_FORMATS = {".parquet": "Parquet", ".csv": "CSV"}
"""Of results files, by how their names end."""


def check_format(path: Path) -> None:
    """Raise ValueError unless a results file's name says what it is: Parquet, or CSV."""
    if path.suffix not in _FORMATS:
        raise ValueError(f"a results file ends in {' or '.join(_FORMATS)}, and not as {path}")


def write_points(points: Iterable[Point], path: Path) -> None:
    """Write points to a file, which appears complete or not at all: Parquet, or CSV by its name.

    Raises ValueError for another name, OSError if it cannot be written.
    """
    check_format(path)
    rows: list[dict[str, Any]] = []
    for point in points:
        row = dict(point.__dict__)
        row |= {name: json.dumps(dict(row[name]), sort_keys=True) for name in _JSON}
        rows.append(row)
    table = pyarrow.Table.from_pylist(rows, schema=SCHEMA)
    with replacing(path) as fresh:
        if path.suffix == ".csv":
            csv.write_csv(table, fresh)
        else:
            parquet.write_table(table, fresh)


def read_points(path: Path) -> Sequence[Point]:
    """Read the points of a results file.

    Raises OSError if it cannot be read, ValueError if it is not a file of points.
    """
    table = _read_table(path)
    there = [name for name in SCHEMA.names if name in table.column_names]
    missing = [name for name in SCHEMA.names if name not in there and name not in _LATER]
    if missing:
        raise ValueError(f"{path} holds no measured points: it has no column {missing[0]}")
    schema = pyarrow.schema([SCHEMA.field(name) for name in there])
    try:
        rows = [{**_LATER, **row} for row in table.select(there).cast(schema).to_pylist()]
        return [Point(**row | {name: json.loads(row[name]) for name in _JSON}) for row in rows]
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path} holds no measured points: {error}") from error


def _read_table(path: Path) -> pyarrow.Table:
    check_format(path)
    source = pyarrow.BufferReader(path.read_bytes())
    try:
        if path.suffix == ".parquet":
            return parquet.read_table(source)
        # Without quotes an empty field is what was not measured; with them, an empty text.
        convert = csv.ConvertOptions(
            column_types=SCHEMA, strings_can_be_null=True, quoted_strings_can_be_null=False
        )
        parse = csv.ParseOptions(newlines_in_values=True)
        return csv.read_csv(source, parse_options=parse, convert_options=convert)
    except (pyarrow.ArrowInvalid, OSError) as error:
        raise ValueError(f"{path} is not a {_FORMATS[path.suffix]} file, or not whole") from error
