"""A measured point, and results files: a row for each point, in Parquet or CSV.

A point is one family with its parameters, working on one size with one operation, on one target.
The figures of two targets are of different devices: compare rows of the same `target` only.
"""

import csv
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from coprime.bus.kinds import Bus
from coprime.catalog import NODES
from coprime.flow.files import replacing

Parameters = tuple[tuple[str, int | str], ...]
Design = tuple[str, Parameters]
"""A family and its parameters."""
Size = int | str
"""A length in bits, or the name of a parameter set."""
CURVE_SEED = 1
"""Of the numbers that cycles on curves are predicted with."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """One measured point; a column of the results for each field, in this order.

    What was not measured (the clock of a design that is not routed, say) or has no meaning for the
    target is None. A failed point keeps what was measured all the same (the area of a design that
    does not fit the device, say): compare points whose `status` is "ok" only.
    """

    family: str  # name in the catalogue
    paper: str  # short name of the publication that the family implements; empty for our own
    parameters: Mapping[str, int | str]
    """Every parameter with its value; in a file JSON text with sorted keys."""
    bits: int
    """Length of the modulus in bits; of an operation on a curve that of its field, and the curve is
    the first of that length: P-256, P-384, P-521, Ed25519, Ed448. Of a call of an engine of byte
    strings that of the stream that it takes, 0 without one."""
    operation: str
    """The name of a command, or of a call; of the part "multiplier" MULTIPLICATION, which is
    one multiplication, loading and unloading of its digits included; of "reduction" REDUCTION, of
    "word-multiplier" WORD_MULTIPLICATION."""
    exponents: str
    """"random": exponent and key from the seed. "worst": every bit of the exponents is 1."""
    seed: int  # what the operands were drawn from
    target: str  # of `Target`, or unit-gate; generic if only an operation's cycles were counted
    device: str | None = None
    """The device in words: a device family if only mapped, the exact device if placed on one."""
    part: str
    """What was mapped: "engine" alone, "accelerator" with its registers and AXI4-Lite slave, one
    "multiplier" alone, without the memory that holds its operands; for one modulus the
    "reduction" of a word, or the "word-multiplier", which reduces the product of two; a "cluster"
    of `cores` engines on a chain, with its front end; or a "system" of processor, memory and
    accelerator. What is said of an operation (cycles, utilization, time) is of one engine: a
    cluster does as many of them at once as it has cores. Of a system it is of the operation that
    its processor has done: numbers in memory, result in memory."""
    cores: int = 0
    """Engines of a cluster, 1 or more; 0 for every other part, and where a file has no such column.
    """
    link_registers: int = 0  # of a cluster: between two nodes, besides a node's own
    node: str = NODES[0]
    """Kind of a cluster's nodes, "full" or "lean"; "full" for the other parts, which have none, and
    where a file has no such column."""
    stamped: bool = False
    """Whether a cluster's node was placed and routed by itself, and copied."""
    bus: str = Bus.AXI4_LITE.value
    """Bus of the accelerator, the cluster, or the system's accelerator: "axi4-lite" or "axi4".
    "axi4-lite" for the other parts, which have none, and where a file has no such column."""
    lut: int | None = None  # LUTs occupied, as logic, memory or in carry chains
    lutram: int | None = None  # LUTs of these that hold memory
    ff: int | None = None  # flip-flops
    carry: int | None = None  # as the `units` of the target's flow say; so are the next two
    dsp: int | None = None
    bram: float | None = None
    slices_estimate: int | None = None  # slices if all were filled
    fmax_mhz: float | None = None
    """Maximum clock frequency in MHz after place and route, the mean over `placements`: what
    one run of the tools reaches on average; None unless routed."""
    fmax_best_mhz: float | None = None  # the same of the best of these placements
    placements: int = 0
    """How many times it was placed and routed, each time from another seed; 0 unless routed."""
    gate_area: float | None = None
    """Unit-gate area: unit gates of the logic, without flip-flops and memory bits."""
    gate_delay: float | None = None  # unit-gate delay of the longest path, in unit gates
    memory_bits: int | None = None
    """Bits of the memories, which unit gates do not count; for unit-gate only."""
    cycles: int | None = None
    """Clock cycles of the operation, counted in simulation; None if it was too long to simulate."""
    predicted_cycles: int | None = None
    """Clock cycles that the design's own model predicts for the same operands; of a system those in
    which its engine works."""
    software_cycles: int | None = None
    """Clock cycles of the same operation in software on the processor of a "system"; None for other
    parts, and where a file has no such column."""
    utilization: float | None = None
    """Part of the cycles, 0 to 1, in which the multiplier did a product that the algorithm needs.
    """
    milliseconds: float | None = None
    """Time of the operation: cycles (predicted ones if not simulated) / fmax; None unless routed.
    """
    area_time: float | None = None
    """LUTs x milliseconds where routed; for unit-gate, unit gates x unit delays x cycles. A
    cluster's is over its cores, which all work at once."""
    status: str  # "ok" or "failed"
    reason: str | None = None  # why the point failed, in one sentence; None if it did not
    tools: Mapping[str, str]
    """Version of each tool that had a part in it; in a file JSON text with sorted keys."""
    command: str  # the `coprime build` command line that makes this design again
    verilog: str | None = None
    """Digest of the Verilog that was mapped, by `digest_of`: if it is not that of today's, area and
    clock are of other hardware. None if unknown, and where a file has no such column."""
    key: str
    """Hash of what the figures follow from: the design's hardware, the measurement's settings and
    the tools' versions. Equal keys are the same measurement."""
    specifications: str = ""
    """The specifications that come with Coprime and ask for the point, separated by spaces; empty
    for those of others, and where a file has no such column."""
    parameter_set: str = ""
    """Of a call of an engine of byte strings; empty for others, and where a file has no such
    column."""

    @property
    def size(self) -> Size:
        """What the operation works on: its parameter set, or else a length in bits."""
        return self.parameter_set or self.bits

    @property
    def identity(self) -> tuple[object, ...]:
        """What distinguishes the points of a sweep, in the order in which they are sorted."""
        parameters = tuple(sorted(self.parameters.items()))
        chain = (self.cores, self.link_registers, self.node, self.stamped, self.bus)
        work = (self.operation, self.parameter_set, self.exponents, self.bits, self.seed)
        routed = self.fmax_mhz is not None
        kind = (self.family, self.target, self.part)
        return (*kind, *chain, *work, parameters, routed, self.device or "")

    @property
    def request(self) -> tuple[object, ...]:
        """What it was asked for by: a point that is measured again has the same."""
        routed = self.fmax_mhz is not None
        placed = (self.device, 0 if self.stamped else self.placements) if routed else ("", 0)
        return (*self.identity[:-2], *placed)

    @property
    def settings(self) -> str:
        """The parameters in words, of a cluster its own ones first."""
        pairs = (self.of_the_cluster | dict(self.parameters)).items()
        words = [f"{name} {value}" for name, value in pairs]
        bus = [] if self.bus == Bus.AXI4_LITE.value else [f"bus {self.bus}"]
        return ", ".join([*(["stamped"] if self.stamped else []), *words, *bus])

    @property
    def of_the_cluster(self) -> dict[str, int | str]:
        """A cluster's own parameters; none of another part."""
        own = {"cores": self.cores, "link_registers": self.link_registers}
        node = {} if self.node == NODES[0] else {"node": self.node}
        return {name: value for name, value in own.items() if value} | node


COLUMNS: Mapping[str, Any] = {field.name: field.type for field in fields(Point)}
"""The columns of a results file, with the type of each field."""

_JSON = ("parameters", "tools")
_LATER: Mapping[str, Any] = {
    "cores": 0,
    "link_registers": 0,
    "node": NODES[0],
    "stamped": False,
    "bus": Bus.AXI4_LITE.value,
    "software_cycles": None,
    "fmax_best_mhz": None,
    "placements": 0,
    "verilog": None,
    "specifications": "",
    "parameter_set": "",
}
"""Columns that files of earlier versions do not have, with what holds for all of their points."""


def versions(points: Iterable[Point]) -> str:
    """Say which versions of Coprime and of the tools measured points, Coprime's first."""
    found = {pair for point in points for pair in point.tools.items()}
    tools = sorted(found, key=lambda pair: (pair[0] != "coprime", pair))
    return ", ".join(f"{name} {version}" for name, version in tools)


def unproved(points: Sequence[Point]) -> str:
    """Say of how many points nobody knows whether area and clock are of today's hardware."""
    count = sum(point.verilog is None and point.target != "generic" for point in points)
    return (
        f"; {count:,} of {len(points):,} were not compared with today's hardware" if count else ""
    )


def check_format(path: Path) -> None:
    """Raise ValueError unless a results file's name says what it is: Parquet, or CSV."""
    if path.suffix not in _FORMATS:
        raise ValueError(f"a results file ends in {' or '.join(_FORMATS)}, and not as {path}")


def write_points(points: Iterable[Point], path: Path) -> None:
    """Write points to a file, which appears complete or not at all: Parquet, or CSV by its name.

    Raises ValueError for another name, OSError if it cannot be written.
    """
    check_format(path)
    rows = [dict(point.__dict__) for point in points]
    for row in rows:
        row |= {name: json.dumps(dict(row[name]), sort_keys=True) for name in _JSON}
    with replacing(path) as fresh:
        _FORMATS[path.suffix][0](rows, fresh)


def read_points(path: Path) -> Sequence[Point]:
    """Read the points of a results file.

    Raises OSError if it cannot be read, ValueError if it is not a file of points.
    """
    check_format(path)
    names, rows = _FORMATS[path.suffix][1](path)
    missing = [name for name in COLUMNS if name not in names and name not in _LATER]
    if missing:
        raise ValueError(f"{path} holds no measured points: it has no column {missing[0]}")
    there = [name for name in COLUMNS if name in names]
    try:
        return [
            Point(
                **{**_LATER}
                | {name: row[name] for name in there}
                | {name: json.loads(row[name]) for name in _JSON}
            )
            for row in rows
        ]
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path} holds no measured points: {error}") from error


# --- Parquet and CSV ----------------------------------------------------------------------------

_Rows = Sequence[Mapping[str, Any]]
_Write = Callable[[_Rows, Path], None]
_Read = Callable[[Path], tuple[Sequence[str], _Rows]]
_TEXT, _WHOLE, _NUMBER, _TRUTH = "string", "int64", "float64", "bool"
_KINDS: Mapping[object, str] = {
    bool: _TRUTH,
    str: _TEXT,
    int: _WHOLE,
    float: _NUMBER,
    str | None: _TEXT,
    int | None: _WHOLE,
    float | None: _NUMBER,
    Mapping[str, int | str]: _TEXT,
    Mapping[str, str]: _TEXT,
}
"""What a field of a type is in a file, in Arrow's words."""
_TRUTHS = {str(value): value for value in (False, True)}
_PARSE: Mapping[str, Callable[[str], object]] = {
    _TEXT: str,
    _WHOLE: int,
    _NUMBER: float,
    _TRUTH: _TRUTHS.__getitem__,
}


def _write_parquet(rows: _Rows, path: Path) -> None:
    # Arrow takes a third of a second to import: only those who need it wait for it.
    import pyarrow
    from pyarrow import parquet

    schema = pyarrow.schema([(name, _KINDS[kind]) for name, kind in COLUMNS.items()])
    parquet.write_table(pyarrow.Table.from_pylist([dict(row) for row in rows], schema), path)


def _read_parquet(path: Path) -> tuple[Sequence[str], _Rows]:
    import pyarrow
    from pyarrow import parquet

    source = pyarrow.BufferReader(path.read_bytes())
    try:
        table = parquet.read_table(source)
    except (pyarrow.ArrowInvalid, OSError) as error:
        raise ValueError(f"{path} is not a Parquet file, or not whole") from error
    there = [name for name in COLUMNS if name in table.column_names]
    schema = pyarrow.schema([(name, _KINDS[COLUMNS[name]]) for name in there])
    try:
        return there, table.select(there).cast(schema).to_pylist()
    except pyarrow.ArrowInvalid as error:
        raise ValueError(f"{path} holds no measured points: {error}") from error


def _write_csv(rows: _Rows, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(COLUMNS), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _read_csv(path: Path) -> tuple[Sequence[str], _Rows]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            rows = [
                {name: _parsed(name, text) for name, text in row.items() if name in COLUMNS}
                for row in reader
            ]
        return reader.fieldnames or (), rows
    except (ValueError, KeyError, csv.Error) as error:
        raise ValueError(f"{path} is not a CSV file of points, or not whole: {error}") from error


def _parsed(name: str, text: str | None) -> object:
    """A cell's value. What is empty is None, unless the column is of text that may be empty."""
    if text is None:
        raise ValueError(f"a row ends before the column {name}")
    if not text and COLUMNS[name] is not str:
        return None
    return _PARSE[_KINDS[COLUMNS[name]]](text)


_FORMATS: Mapping[str, tuple[_Write, _Read]] = {
    ".parquet": (_write_parquet, _read_parquet),
    ".csv": (_write_csv, _read_csv),
}
"""How a kind of file is written, and its columns and rows are read, by how its name ends."""
