"""Check the results of docs/user_results/, and write their table: `make user-results`.

    python tools/user_results.py                  check all, write tables of docs/user_results.md
    python tools/user_results.py FILE ...         check these files only
    python tools/user_results.py --rebuild FILE   also build their Verilog again, and compare it

A result is what a script of `coprime/package/vendor.py` writes in a vendor's tool.
"""

import argparse
import hashlib
import re
import shlex
import sys
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from datetime import date
from pathlib import Path
from typing import Any

from coprime import __version__
from coprime.bus.kinds import Bus
from coprime.catalog import CALL_FAMILIES, CLUSTER, FAMILIES
from coprime.cells.target import Target
from coprime.cli import parser
from coprime.cli.options import chosen_of_all, chosen_paddings
from coprime.engine.family import module_name
from coprime.flow.parts import build_command
from coprime.package.describe import describe
from coprime.package.description import Description
from coprime.package.license import licensed
from coprime.package.vendor import TOOLS, VendorTool
from coprime.suites import SUITE

PAGE = Path(__file__).parents[1] / "docs" / "user_results.md"
FOLDER = PAGE.with_suffix("")
_FORMAT = 1
_KINDS: Mapping[object, tuple[tuple[type, ...], str]] = {
    str: ((str,), "a text"),
    int: ((int,), "a whole number"),
    float: ((int, float), "a number"),
    bool: ((bool,), "true or false"),
}
_CLOSE = 0.001
"""Share by which a clock may differ from that of its constraint and slack, which are rounded."""


@dataclass(frozen=True, kw_only=True)
class UserResult:
    """A result; its fields are the keys of the file.

    Raises ValueError for what cannot be.
    """

    format: int
    design: str  # top module
    coprime: str  # version
    command: str  # that builds the design, but for the folder
    verilog_sha256: str
    tool: str
    tool_version: str
    part: str
    speed_grade: str
    ports: str  # what was done with them
    measured: str  # when, as YYYY-MM-DD
    area_units: str  # of lut, ff, dsp and bram
    lut: int
    ff: int
    dsp: int
    bram: float
    best_seed: int
    constraint_ns: float
    slack_ns: float
    clock_mhz: float
    runs: int  # of place and route
    converged: bool
    seeds: int
    by: str = ""  # who measured it, if the user adds it

    def __post_init__(self) -> None:
        self._check_kinds()
        tool = self._tool()
        if self.ports != tool.ports:
            raise ValueError(f"ports are {tool.ports!r} in {tool.name}, not {self.ports!r}")
        self._check_figures()
        if not re.fullmatch("[0-9a-f]{64}", self.verilog_sha256):
            raise ValueError(f"verilog_sha256 is no SHA-256: {self.verilog_sha256!r}")
        try:
            date.fromisoformat(self.measured)
        except ValueError:
            raise ValueError(f"measured is no date: {self.measured!r}") from None
        self._check_design(tool)

    def _check_kinds(self) -> None:
        for field in fields(self):
            value, (kinds, wanted) = getattr(self, field.name), _KINDS[field.type]
            if not isinstance(value, kinds) or (bool in kinds) != isinstance(value, bool):
                raise ValueError(f"{field.name} must be {wanted}, not {value!r}")
            if isinstance(value, str) and re.search(r"[|`\n]", value):
                raise ValueError(f"{field.name} must be one line without | and `, not {value!r}")
        if self.format != _FORMAT:
            raise ValueError(f"format must be {_FORMAT}, not {self.format}")

    def _tool(self) -> VendorTool:
        for tool in TOOLS:
            if tool.name == self.tool:
                return tool
        raise ValueError(f"tool must be one of {', '.join(tool.name for tool in TOOLS)}")

    def _check_figures(self) -> None:
        for name in ("lut", "ff", "dsp", "bram", "slack_ns"):
            if not getattr(self, name) >= 0:
                raise ValueError(f"{name} must be 0 or more, not {getattr(self, name)}")
        if not 1 <= self.best_seed <= self.seeds <= self.runs:
            raise ValueError("best_seed must be one of the seeds, and runs no fewer than these")
        period = self.constraint_ns - self.slack_ns
        if not period > 0:
            raise ValueError(f"slack_ns must be below constraint_ns, not {self.slack_ns}")
        if not abs(self.clock_mhz * period / 1000 - 1) <= _CLOSE:
            raise ValueError(
                f"clock_mhz must be {1000 / period:.2f}, which follows from constraint_ns and"
                f" slack_ns, not {self.clock_mhz}"
            )

    def _check_design(self, tool: VendorTool) -> None:
        words = shlex.split(self.command)
        known = (*FAMILIES, *CALL_FAMILIES, CLUSTER, SUITE)
        if words[:2] != ["coprime", "build"] or len(words) < 3 or words[2] not in known:
            raise ValueError(f"command builds no design that Coprime knows: {self.command!r}")
        if self.design != module_name(words[2]):
            raise ValueError(f"command builds {module_name(words[2])}, not {self.design}")
        if self.coprime != __version__:
            return  # whose designs may have had other parameters
        own = self.description()
        if build_command(own.choice, own.target, own.bus, own.paddings) != self.command:
            raise ValueError(f"command is not as Coprime writes it: {self.command!r}")
        if own.target not in tool.targets:
            raise ValueError(f"packages for {own.target.value} have no script for {tool.name}")

    def description(self) -> Description:
        """The design of this version of Coprime. Raises ValueError if it has none."""
        words = [*shlex.split(self.command)[1:], "-o", "DIR"]
        try:
            options = parser(("build",), words).parse_args(words)
            choice = chosen_of_all(options)
            paddings = chosen_paddings(options)
        except (SystemExit, ValueError) as refused:
            raise ValueError(f"command builds nothing: {self.command!r}") from refused
        return describe(choice, Target(options.target), Bus(options.bus), paddings)

    def check_rebuilt(self) -> None:
        """Build the Verilog again. Raises ValueError if it is another, or of another version."""
        if self.coprime != __version__:
            raise ValueError(
                f"is of Coprime {self.coprime}, and cannot be rebuilt by {__version__}"
            )
        own = self.description()
        text = licensed({own.verilog: own.kind.verilog(own.target, own.bus)})[own.verilog]
        digest = hashlib.sha256(text.encode()).hexdigest()
        if digest != self.verilog_sha256:
            raise ValueError(f"verilog_sha256 is {digest} of what command builds")


def read_result(path: Path) -> UserResult:
    """A result. Raises ValueError with a sentence on what is wrong with the file."""
    try:
        found: dict[str, Any] = tomllib.loads(path.read_text("utf-8"))
        keys = {field.name: field.default is MISSING for field in fields(UserResult)}
        if missing := [key for key, needed in keys.items() if needed and key not in found]:
            raise ValueError(f"lacks {', '.join(missing)}")
        if unknown := [key for key in found if key not in keys]:
            raise ValueError(f"has what no result has: {', '.join(unknown)}")
        return UserResult(**found)
    except ValueError as wrong:  # one of TOML or UTF-8, too
        raise ValueError(f"{path.name}: {wrong}") from wrong


def read_results(folder: Path = FOLDER) -> dict[str, UserResult]:
    """The results of a folder by the names of their files."""
    return {path.name: read_result(path) for path in sorted(folder.glob("*.toml"))}


def tools_table() -> str:
    """The tools, with the packages that have their scripts."""
    rows = [
        f"| {tool.name} | {', '.join(f'`{one.value}`' for one in Target if one in tool.targets)}"
        f" | `{tool.command}` | `{tool.part}` | {tool.ports} |"
        for tool in TOOLS
    ]
    head = "| tool | `--target` | command, in the package's folder | default PART | ports |"
    return "\n".join([head, "|---|---|---|---|---|", *rows])


def results_table(results: Mapping[str, UserResult]) -> str:
    """The results, or that there are none."""
    if not results:
        return "None has been sent in yet."
    head = (
        "| design, Coprime | tool | part | ports | MHz | LUTs or as noted | registers |"
        " multipliers | block RAM | seeds | measured, file |"
    )
    order = sorted(results.items(), key=lambda item: (item[1].command, item[1].tool, item[0]))
    return "\n".join(
        [head, "|---|---|---|---|---:|---:|---:|---:|---:|---:|---|", *map(_row, order)]
    )


def _row(item: tuple[str, UserResult]) -> str:
    name, one = item
    design = one.command.removeprefix("coprime build ")
    cells = [
        f"`{design}`, {one.coprime}",
        f"{one.tool} {one.tool_version}",
        f"{one.part}, speed grade {one.speed_grade}",
        one.ports,
        f"{one.clock_mhz:.1f}" + ("" if one.converged else ", not converged"),
        *(f"{count:,}" for count in (one.lut, one.ff, one.dsp)),
        f"{one.bram:g}",
        f"{one.seeds}",
        f"{one.measured}{f' by {one.by}' if one.by else ''}, `{name}` ({one.area_units})",
    ]
    return f"| {' | '.join(cells)} |"


def page(text: str, results: Mapping[str, UserResult]) -> str:
    """The page with both tables written anew."""
    for name, table in (("tools", tools_table()), ("results", results_table(results))):
        begin, end = f"<!-- make user-results: {name} -->\n\n", "\n\n<!-- end of the table -->"
        before, _, rest = text.partition(begin)
        _, mark, after = rest.partition(end)
        if not mark:
            raise ValueError(f"{PAGE.name} has no place for the table of {name}")
        text = before + begin + table + mark + after
    return text


def check(paths: Iterable[Path], *, rebuild: bool) -> list[str]:
    """What is wrong with files, a line each."""
    wrong = []
    for path in paths:
        try:
            result = read_result(path)
        except (ValueError, OSError) as failure:
            wrong.append(str(failure))
            continue
        try:
            if rebuild:
                result.check_rebuilt()
        except ValueError as failure:
            wrong.append(f"{path.name}: {failure}")
    return wrong


def main() -> int:
    """Check, and write the page if no files are named; the exit status."""
    arguments = argparse.ArgumentParser(description="Check users' results, and write their table.")
    arguments.add_argument("--rebuild", action="store_true", help="build the Verilog again")
    arguments.add_argument("files", nargs="*", type=Path, metavar="FILE", help="these files only")
    options = arguments.parse_args()
    paths = options.files or sorted(FOLDER.glob("*.toml"))
    wrong = check(paths, rebuild=options.rebuild)
    for line in wrong:
        print(f"user_results: {line}", file=sys.stderr)
    if not wrong and not options.files:
        PAGE.write_text(page(PAGE.read_text("utf-8"), read_results()), encoding="utf-8")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
