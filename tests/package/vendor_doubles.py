"""Doubles of the vendors' tools: commands that know a design's highest clock, and write reports.

They have the forms of the tools' reports, as far as the scripts read them.
"""

import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

UG904_PLACE = {
    *("Default", "Explore", "WLDrivenBlockPlacement", "EarlyBlockPlacement", "ExtraNetDelay_high"),
    *("ExtraNetDelay_low", "AltSpreadLogic_low", "AltSpreadLogic_medium", "AltSpreadLogic_high"),
    *("ExtraPostPlacementOpt", "ExtraTimingOpt", "RuntimeOptimized", "Quick"),
}
UG904_PHYSICAL = {
    *("Default", "Explore", "ExploreWithHoldFix", "AggressiveExplore", "AlternateReplication"),
    *("AggressiveFanoutOpt", "AddRetime", "AlternateFlowWithRetiming", "RuntimeOptimized"),
}
UG904_ROUTE = {
    *("Default", "Explore", "AggressiveExplore", "NoTimingRelaxation", "MoreGlobalIterations"),
    *("HigherDelayCost", "RuntimeOptimized", "AlternateCLBRouting", "Quick"),
}
"""Directives that Vivado's manual of implementation lists."""


class CommandError(Exception):
    """An error of a command."""


@dataclass
class Hardware:
    """What the tool's device and router make of the design.

    Parameters
    ----------
    limit_ns : the shortest period that any seed reaches
    spread : by what share the worst seed is slower
    lazy : share of the constraint that a run reaches at least, as it stops there
    always_misses : by how much each constraint is missed, in place of a limit
    unrouted, hold : of a seed and a period, whether nets are unrouted, hold times violated
    empty : the report that has nothing in it: of area or timing; or that there are no paths
    """

    limit_ns: float = 5.0
    spread: float = 0.08
    lazy: float = 0.7
    always_misses: float = 0.0
    unrouted: Callable[[int, float], bool] = lambda seed, period: False
    hold: Callable[[int, float], bool] = lambda seed, period: False
    empty: str = ""

    def reached(self, seed: int, period: float) -> float:
        """The period that a run reaches; noise depends on seed and constraint, as in the tools."""
        if self.always_misses:
            return period * (1 + self.always_misses)
        noise = zlib.crc32(f"{seed} {period:.3f}".encode()) / 2**32
        return max(self.limit_ns * (1 + self.spread * noise), self.lazy * period)


@dataclass
class Double:
    """A tool. Its commands are the methods whose names begin with `do_`."""

    hardware: Hardware = field(default_factory=Hardware)
    period: float = 0.0
    seed: int = 0
    runs: list[tuple[float, int]] = field(default_factory=list)
    """Constraint and seed of each placement."""
    calls: list[tuple[str, ...]] = field(default_factory=list)

    arguments = "argv"
    """The variable that has the arguments."""

    def prelude(self) -> str:
        """What is there in Tcl besides commands."""
        return ""

    def all_commands(self) -> dict[str, Callable[..., str | None]]:
        return {name[3:]: getattr(self, name) for name in dir(self) if name.startswith("do_")}

    def report(self, kind: str, text: str) -> str:
        """A report of area or timing, which may be the empty one."""
        return "" if kind == self.hardware.empty else text

    @property
    def slack(self) -> float:
        return round(self.period - self.hardware.reached(self.seed, self.period), 3)

    @property
    def hold_slack(self) -> float:
        return -0.05 if self.hardware.hold(self.seed, self.period) else 0.05

    @property
    def unrouted(self) -> int:
        return 7 if self.hardware.unrouted(self.seed, self.period) else 0

    def place(self, seed: int) -> None:
        self.seed = seed
        self.runs.append((self.period, seed))


def period_of(path: str, clock: str) -> float:
    """The period that a file of constraints has for a clock's port."""
    text = Path(path).read_text("utf-8")
    found = re.fullmatch(
        r"create_clock -name (\{?)\w+(?:\}?) -period ([\d.]+) \[get_ports (\w+)\]\n", text
    )
    assert found, text
    assert found[3] == clock
    return float(found[2])


@dataclass
class Vivado(Double):
    """Vivado in non-project mode, with one part."""

    parts = ("xc7z020clg400-1", "xczu3eg-sbva484-1-e")
    opened: str = ""

    def do_get_parts(self, *words: str) -> str:
        return words[-1] if words[-1] in self.parts else ""

    def do_get_property(self, name: str, what: str) -> str:
        assert (name, what in self.parts) == ("SPEED", True)
        return "-1"

    def do_version(self, option: str) -> str:
        assert option == "-short"
        return "2023.2"

    def do_close_project(self, *words: str) -> None:
        if not self.opened and words != ("-quiet",):
            raise CommandError("ERROR: [Coretcl 2-88] No open project")
        self.opened = ""

    def do_create_project(self, *words: str) -> None:
        assert not self.opened
        assert words[:2] == ("-in_memory", "-part")
        self.opened = "project"

    def do_read_verilog(self, path: str) -> None:
        assert Path(path).is_file()

    def do_read_xdc(self, *words: str) -> None:
        if words[0] == "-mode":
            assert words[1] == "out_of_context"
            self.period = period_of(words[2], "s_axi_aclk")
        else:
            assert Path(words[0]).is_file()

    def do_synth_design(self, *words: str) -> None:
        assert words[0] == "-top"
        assert words[-2:] == ("-mode", "out_of_context")
        assert self.opened == "project"

    def do_get_sites(self, *words: str) -> str:
        assert words[:2] == ("-quiet", "-filter")
        return "BUFGCE_X0Y0 BUFGCE_X0Y1" if words[2] == "SITE_TYPE == BUFGCE" else ""

    def do_get_ports(self, name: str) -> str:
        return name

    def do_set_property(self, *words: str) -> None:
        assert words == ("HD.CLK_SRC", "BUFGCE_X0Y0", "s_axi_aclk")

    def do_opt_design(self) -> None:
        assert self.opened

    def do_write_checkpoint(self, *words: str) -> None:
        Path(words[-1]).write_text("checkpoint")

    def do_open_checkpoint(self, path: str) -> None:
        assert Path(path).is_file()
        assert not self.opened
        self.opened = "checkpoint"

    def do_place_design(self, option: str, directive: str) -> None:
        assert option == "-directive"
        assert directive in UG904_PLACE
        again = self.runs and self.runs[-1][0] == self.period
        self.place(self.runs[-1][1] + 1 if again else 1)

    def do_phys_opt_design(self, option: str, directive: str) -> None:
        assert option == "-directive"
        assert directive in UG904_PHYSICAL

    def do_route_design(self, option: str, directive: str) -> None:
        assert option == "-directive"
        assert directive in UG904_ROUTE

    def do_report_route_status(self, option: str) -> str:
        assert option == "-return_string"
        return (
            "Design Route Status\n"
            "                                               :      # nets :\n"
            "   ------------------------------------------- : ----------- :\n"
            "       # of routable nets..................... :        1000 :\n"
            f"       # of nets with routing errors.......... : {self.unrouted:11} :\n"
        )

    def do_report_timing_summary(self, *words: str) -> str:
        assert words == ("-no_detailed_paths", "-return_string")
        slack = "NA" if self.hardware.empty == "paths" else f"{self.slack:.3f}"
        return self.report(
            "timing",
            "| Design Timing Summary\n\n    WNS(ns)      TNS(ns)  (and so on)  \n"
            "    -------      -------  ---------------------  -------------------\n"
            f"  {slack}  0.000  0  8953"
            f"  {self.hold_slack}  0.000  0  8951"
            f"  {self.period / 2 - 1:.3f}  0.000  0  3629  \n\n",
        )

    def do_report_utilization(self, option: str) -> str:
        assert option == "-return_string"
        return self.report(
            "area",
            "|          Site Type         | Used | Fixed | Available | Util% |\n"
            "+----------------------------+------+-------+-----------+-------+\n"
            "| CLB LUTs                   |  834 |     0 |     53200 |  1.57 |\n"
            "|   LUT as Logic             |  800 |     0 |     53200 |  1.50 |\n"
            "| CLB Registers              |  612 |     0 |    106400 |  0.58 |\n"
            "| Block RAM Tile    |  2.5 |     0 |       140 |  1.79 |\n"
            "| DSPs           |    1 |     0 |       220 |  0.45 |\n",
        )


CORNERS = ("Slow 1100mV 85C", "Fast 1100mV 0C")


@dataclass
class Quartus(Double):
    """Quartus Prime, as quartus_sh has it."""

    parts = ("5CSEBA6U23I7",)
    edition: str = "Lite"
    assigned: dict[str, str] = field(default_factory=dict)
    virtual: set[str] = field(default_factory=set)
    arguments = "quartus(args)"

    def prelude(self) -> str:
        packages = "".join(
            f"package provide ::quartus::{name} 7.0\n" for name in ("device", "project", "flow")
        )
        version = f"Version 20.1.1 Build 720 11/11/2020 SJ {self.edition} Edition"
        return f"{packages}set quartus(version) {{{version}}}\n"

    def do_get_part_info(self, option: str, part: str) -> str:
        if part not in self.parts:
            raise CommandError(f"ERROR: Illegal part name: {part}")
        return {"-family": "{Cyclone V}", "-speed_grade": "7"}[option]

    def do_project_new(self, name: str, option: str) -> None:
        assert option == "-overwrite"
        self.assigned["project"] = name

    def do_set_global_assignment(self, option: str, name: str, value: str) -> None:
        assert option == "-name"
        self.assigned[name] = value

    def do_set_instance_assignment(self, *words: str) -> None:
        assert words[:4] == ("-name", "VIRTUAL_PIN", "ON", "-to")
        self.virtual.add(words[4])

    def do_export_assignments(self) -> None:
        pass

    def do_execute_module(self, option: str, tool: str) -> None:
        assert option == "-tool"
        output = Path(self.assigned["PROJECT_OUTPUT_DIRECTORY"])
        output.mkdir(exist_ok=True)
        name = self.assigned["project"]
        if tool in ("map", "syn"):
            assert (tool == "syn") == (self.edition == "Pro")
            assert Path(self.assigned["VERILOG_FILE"]).is_file()
            self.period = period_of(self.assigned["SDC_FILE"], "s_axi_aclk")
        elif tool == "fit":
            self.place(int(self.assigned["SEED"]))
            if self.unrouted:
                raise CommandError("ERROR: Error(170143): Final fitting attempt was unsuccessful")
            (output / f"{name}.fit.summary").write_text(
                self.report(
                    "area",
                    "Fitter Status : Successful - Thu Sep 24 06:01:23 2026\nFamily : Cyclone V\n"
                    "Logic utilization (in ALMs) : 1,234 / 41,910 ( 3 % )\n"
                    "Total registers : 2345\nTotal virtual pins : 120\n"
                    "Total DSP Blocks : 1 / 112 ( < 1 % )\n",
                )
            )
            (output / f"{name}.fit.rpt").write_text(
                self.report("area", "; M10K blocks      ; 3 / 553 ( < 1 % ) ;\n")
            )
        else:
            assert tool == "sta"
            (output / f"{name}.sta.summary").write_text(
                self.report("timing", "".join(map(self.summary, CORNERS)))
            )

    def summary(self, corner: str) -> str:
        """The slacks of a corner; the fast one has more."""
        kinds = {
            "Setup": self.slack + (1.5 if corner.startswith("Fast") else 0),
            "Hold": self.hold_slack,
            "Minimum Pulse Width": self.period / 2 - 1,
        }
        return "".join(
            f"Type  : {corner} Model {kind} 's_axi_aclk'\nSlack : {slack:.3f}\nTNS   : 0.000\n\n"
            for kind, slack in kinds.items()
        )


@dataclass
class Lattice(Double):
    """What Radiant and Diamond have in common."""

    sources: list[str] = field(default_factory=list)
    started: int = 0
    done: list[str] = field(default_factory=list)
    version = ""
    area = ""

    def run_step(self, *words: str) -> None:
        assert words[1:] == ("-impl", "impl", "-forceOne")
        self.done.append(words[0])
        folder = Path("impl")
        folder.mkdir(exist_ok=True)
        if words[0] == "Synthesis":
            assert all(Path(source).is_file() for source in self.sources)
            self.period = self.constraint()
        elif words[0] == "Map":
            (folder / "clock_impl.mrp").write_text(
                self.report(
                    "area",
                    f"Mapper:    version {self.version}\n{self.area}"
                    "   Number of LUT4s:    2345 out of 32256 (7%)\n",
                )
            )
        elif words[0] == "PAR":
            self.place(self.started)
            (folder / "clock_impl.par").write_text(
                f"PAR_SUMMARY::Number of unrouted conns = {self.unrouted}\n"
            )
            (folder / "clock_impl.twr").write_text(self.report("timing", self.timing()))

    def set_strategy(self, *words: str) -> None:
        assert words[:2] == ("-strategy", "Strategy1")
        name, _, value = words[2].partition("=")
        if name == "par_place_iterator_start_pt":
            self.started = int(value)
        else:
            assert (name, value) in (("par_place_iterator", "1"), ("par_save_best_result", "1"))

    def constraint(self) -> float:
        raise NotImplementedError

    def timing(self) -> str:
        raise NotImplementedError


@dataclass
class Radiant(Lattice):
    """Radiant."""

    version = "Radiant Software (64-bit) 2023.1.0.43.3"
    area = (
        "   Number of registers:       1234 out of 32811 (4%)\n"
        "      Number of MULT18:      1 out of 56 (2%)\n"
        "   Number of Block RAMs:          2 out of 84 (2%)\n"
    )

    def do_prj_create(self, *words: str) -> None:
        options = dict(zip(words[::2], words[1::2], strict=True))
        if not options["-dev"].startswith("LIFCL-"):
            raise CommandError(f"ERROR: device {options['-dev']} is not supported")

    def do_prj_add_source(self, path: str) -> None:
        self.sources.append(path)

    def do_prj_set_impl_opt(self, *words: str) -> None:
        assert words == ("-impl", "impl", "top", "coprime_wrapper")

    def do_prj_save(self) -> None:
        pass

    def do_prj_run(self, *words: str) -> None:
        self.run_step(*words)

    def do_prj_set_strategy_value(self, *words: str) -> None:
        self.set_strategy(*words)

    def constraint(self) -> float:
        return period_of("clock.sdc", "clk")

    def timing(self) -> str:
        reached, errors = self.period - self.slack, 3 if self.slack < 0 else 0
        if -0.05 < self.slack < 0:
            reached = self.period - 0.01  # the sum is a little better than the worst endpoint
        return (
            f" Setup at Speed Grade 9_High-Performance_1.0V Corner at 85 Degrees    Timing Errors:"
            f" {errors} endpoints;  Total Negative Slack: 0.000 ns\n"
            f" Setup at Speed Grade 9_High-Performance_1.0V Corner at 0 Degrees    Timing Errors:"
            " 0 endpoints;  Total Negative Slack: 0.000 ns\n"
            f" Hold at Speed Grade m Corner at 0 Degrees    Timing Errors:"
            f" {0 if self.hold_slack > 0 else 5} endpoints;  Total Negative Slack: 0.000 ns\n"
            f" From clk     |             Target |   {self.period:.3f} ns |   1 MHz\n"
            f"              | Actual (all paths) |   {reached:.3f} ns |   1 MHz\n"
            f"              | Actual (all paths) |   {reached - 0.3:.3f} ns |   1 MHz\n"
        )


@dataclass
class Diamond(Lattice):
    """Diamond."""

    version = "Diamond (64-bit) 3.12.0.240.2"
    area = (
        "   Number of registers:   1234 out of 84735 (1%)\n"
        "   Number of block RAMs:  2 out of 208 (1%)\n"
        "Number Of Mapped DSP Components:\n   MULT18X18D          1\n"
    )

    def do_prj_project(self, what: str, *words: str) -> None:
        if what == "new":
            options = dict(zip(words[::2], words[1::2], strict=True))
            assert Path(options["-lpf"]).is_file()
        else:
            assert what == "save"

    def do_prj_src(self, what: str, path: str) -> None:
        assert what == "add"
        self.sources.append(path)

    def do_prj_impl(self, *words: str) -> None:
        assert words == ("option", "top", "coprime_wrapper")

    def do_prj_run(self, *words: str) -> None:
        self.run_step(*words)

    def do_prj_strgy(self, what: str, *words: str) -> None:
        assert what == "set_value"
        self.set_strategy(*words)

    def constraint(self) -> float:
        found = re.fullmatch(
            r'FREQUENCY PORT "clk" ([\d.]+) MHz;\n', Path("clock.lpf").read_text("utf-8")
        )
        assert found
        return round(1000 / float(found[1]), 3)

    def timing(self) -> str:
        return (
            f"Report:  {1000 / (self.period - self.slack):.3f}MHz is the maximum frequency for this"
            " preference.\n"
            "Timing summary (Setup):\n---------------\n\nTiming errors: 0  Score: 0\n"
            "Timing summary (Hold):\n---------------\n\n"
            f"Timing errors: {0 if self.hold_slack > 0 else 5}  Score: 0\n"
        )
