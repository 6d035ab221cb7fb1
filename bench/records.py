"""Records: what a command has measured, and the Verilog that it measured.

docs/records.csv has a line for each. Its `command` is one of two kinds:

* `coprime synth ...` is measured. The figures are true for the Verilog of `verilog`, the digest of
  what was mapped. Where that is empty, nobody knows whether they are those of today's hardware.
* `coprime run ... --bits N` is predicted, and has `cycles` and `utilization`: these are exact for
  today's hardware, so there is no digest.
"""

import csv
import shlex
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields, replace
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any

from coprime.cli import parser, run, synth
from coprime.flow.files import replacing
from coprime.flow.verilog import digest_of

from .page import DOCS

__all__ = ["RECORDS", "Record", "read_records", "write_records"]

RECORDS = DOCS / "records.csv"
_DIGITS = 4
"""Digits after the point of a utilization."""


@dataclass(frozen=True, kw_only=True)
class Record:
    """A command and its figures; a column of the file for each field, empty where it has none."""

    name: str  # by which pages draw it: a name in Python
    command: str
    lut: int | None = None  # this and the next ones as `coprime synth --json` has them
    lutram: int | None = None
    ff: int | None = None
    carry: int | None = None
    dsp: int | None = None
    bram: float | None = None
    slices_estimate: int | None = None
    fmax_mhz: float | None = None
    critical_path: str | None = None
    device: str | None = None
    cycles: int | None = None
    utilization: float | None = None
    verilog: str | None = None  # digest of the Verilog; None: unknown
    tools: str | None = None
    measured: str | None = None  # when, as YYYY-MM-DD

    @property
    def is_predicted(self) -> bool:
        return self.command.startswith("coprime run ")

    @property
    def is_stale(self) -> bool:
        """Whether its figures are not known to be of today's hardware."""
        return not self.is_predicted and self.verilog is None

    @cached_property
    def _options(self) -> Any:
        program, command, *words = shlex.split(self.command)
        if program != "coprime" or command not in ("synth", "run"):
            raise ValueError(f"{self.name}: not coprime synth or coprime run: {self.command}")
        return parser((command,)).parse_args([command, *words])

    def verilog_today(self) -> str:
        """Digest of the Verilog that the command would map now."""
        return digest_of(synth.measured_text(self._options))

    def again(self) -> "Record":
        """The same with today's figures; where no figure has changed, with the date that it has."""
        if self.is_predicted:
            cycles, busy = run.predicted(self._options)
            return replace(self, cycles=cycles, utilization=round(busy, _DIGITS))
        area = synth.area_of(self._options)
        clock = area.fmax_mhz
        fresh = replace(
            self,
            **area.resources,
            fmax_mhz=None if clock is None else round(clock, 2),
            critical_path=area.critical_path,
            device=area.device,
            verilog=self.verilog_today(),
            tools=", ".join(f"{name} {version}" for name, version in area.tools.items()),
        )
        if fresh == self:
            return self
        return replace(fresh, measured=date.today().isoformat())


def read_records(path: Path = RECORDS) -> dict[str, Record]:
    """The records by name. Raises ValueError for a name twice or a figure that is none."""
    kinds = {field.name: field.type for field in fields(Record)}
    records: dict[str, Record] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, strict=True):
            given = {name: _read(kinds[name], text) for name, text in row.items() if text}
            one = Record(**given)
            if one.name in records or not one.name.isidentifier():
                raise ValueError(f"{path.name}: {one.name} is there twice, or is no name")
            records[one.name] = one
    return records


def write_records(records: Iterable[Record], path: Path = RECORDS) -> None:
    rows = [
        {name: "" if value is None else value for name, value in asdict(one).items()}
        for one in records
    ]
    with replacing(path) as fresh, fresh.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Record)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _read(kind: object, text: str) -> object:
    return int(text) if kind == int | None else float(text) if kind == float | None else text
