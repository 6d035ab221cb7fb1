"""A suite: engines of numbers and of byte strings, each a core at one bus slave."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from coprime.bus import registers
from coprime.bus.kinds import Bus
from coprime.bus.register_classes import Register
from coprime.catalog import SUITE_ENGINES, CallChoice, Choice, SuiteChoice, takes_random
from coprime.cells.target import Target
from coprime.flow.parts import suite_summary, suite_verilog
from coprime.padding.scheme import Padding
from coprime.parameters import AnyParameter
from coprime.random.kinds import RandomSource
from coprime.suites import EnginesParameter

from ..call_header import c_name, call_header
from ..description import C_HEADER, Among, Description, Example, Kind, SheetParts, TestbenchParts
from ..figures import Figures
from ..templates import filled
from ..testbench.suite_bench import suite_bench
from ..testbench.suite_example import suite_example
from .calls import CallKind
from .numbers import NumberKind

_HEADER = "coprime_suite.h"


class SuiteKind(Kind):
    """A suite.

    Parameters
    ----------
    suite : its engines
    paddings : in hardware, of the engines of numbers
    """

    purpose = "public-key cryptography"
    parts: tuple[str, ...] = ("accelerator",)
    changing = ("TIME", "STATUS", "DATA_WINDOW", registers.RANDOM_STATUS.name)
    software = "software_suite.md.j2"

    def __init__(self, suite: SuiteChoice, paddings: tuple[Padding, ...] = ()):
        self.suite, self.paddings = suite, paddings
        self.cores = len(suite.engines)
        among = Among(self.cores, source=suite.source.code)
        self.kinds = tuple(self._kind(engine, among) for engine in suite.engines)
        self.headers = (C_HEADER, _HEADER, *self._call_headers)
        needless = set.intersection(*(set(kind.not_drivers) for kind in self.kinds))
        self.not_drivers = tuple(sorted(needless - {"_call_cores"}))

    def _kind(self, engine: Choice | CallChoice, among: Among) -> NumberKind | CallKind:
        """What answers for one engine, which has random bytes from the suite's source."""
        if isinstance(engine, CallChoice):
            return CallKind(replace(engine, source=self._source(engine)), among)
        return NumberKind(replace(engine, source=self._source(engine)), self.paddings, among)

    def _source(self, engine: Choice | CallChoice) -> RandomSource:
        draws = takes_random(engine, self.paddings)
        return self.suite.source if draws else RandomSource.STREAM

    def engines(self, description: Description) -> Sequence[tuple[str, Description]]:
        """Each engine as a design of its own, with the registers that it has among the others."""
        figures = description.figures.engines or [Figures()] * self.cores
        return [
            (
                name,
                replace(
                    description,
                    choice=kind.choice,
                    kind=kind,
                    paddings=self.paddings if isinstance(kind, NumberKind) else (),
                    figures=engine_figures,
                ),
            )
            for name, kind, engine_figures in zip(
                self.suite.names, self.kinds, figures, strict=True
            )
        ]

    def selected(self, description: Description) -> Description:
        """The first engine."""
        return self.engines(description)[0][1]

    @property
    def _call_headers(self) -> Mapping[str, CallKind]:
        return {
            f"{module}.h": kind
            for module, kind in zip(self.suite.modules, self.kinds, strict=True)
            if isinstance(kind, CallKind)
        }

    @property
    def made_headers(self) -> Mapping[str, str]:
        """The numbers of cores; and of slots, calls and parameter sets."""
        return {
            _HEADER: filled("suite.h.j2", suite=self.suite, c_name=c_name),
            **{
                name: call_header(name.removesuffix(".h"), kind.design.interface)
                for name, kind in self._call_headers.items()
            },
        }

    @property
    def summary(self) -> str:
        """How many engines there are, and which."""
        return suite_summary(self.suite)

    @property
    def registers(self) -> tuple[Register, ...]:
        """Those of all engines; STATUS starts something where there is an engine of numbers."""
        found: dict[int, Register] = {}
        for kind in sorted(self.kinds, key=lambda kind: isinstance(kind, CallKind)):
            for register in kind.registers:
                found.setdefault(register.address, register)
        return tuple(found[address] for address in sorted(found))

    @property
    def values(self) -> Mapping[str, Mapping[str, int]]:
        """Those of the first core, which is selected after a reset; others' where it has none."""
        found: dict[str, Mapping[str, int]] = {}
        for kind in self.kinds:
            for register, values in kind.values.items():
                found.setdefault(register, values)
        return found

    @property
    def codes(self) -> Mapping[tuple[str, str], Mapping[str, int]]:
        """Those of all engines, but for slots and parameter sets, whose numbers are an engine's."""
        found: dict[tuple[str, str], dict[str, int]] = {}
        for kind in self.kinds:
            for place, codes in kind.codes.items():
                if place[0] not in ("SLOT", "PARAMETER_SET"):
                    found.setdefault(place, {}).update(codes)
        return found

    @property
    def parameters(self) -> Sequence[AnyParameter | EnginesParameter]:
        """The engines, and the parameters of each."""
        return [
            SUITE_ENGINES,
            *(
                replace(parameter, name=f"{name}.{parameter.name}")
                for name, engine, kind in zip(
                    self.suite.names, self.suite.engines, self.kinds, strict=True
                )
                for parameter in (
                    engine.family.parameters if isinstance(engine, CallChoice) else kind.parameters
                )
            ),
        ]

    @property
    def draws(self) -> bool:
        """If an engine does, or a padding."""
        return any(kind.draws for kind in self.kinds)

    def verilog(self, target: Target, bus: Bus) -> str:
        """The suite."""
        return suite_verilog(self.suite, target, bus, self.paddings)

    def diagrams(self, bus: Bus) -> list[str]:
        """Of accesses on a bus without bursts; those of bursts show registers of numbers."""
        return [] if bus is Bus.AXI4 else ["write", "read"]

    def sheet_parts(self, description: Description, mhz: float | None) -> SheetParts:
        """The cores; what each engine has follows in sections of its own."""
        every = [
            (name, engine.kind.sheet_parts(engine, mhz))
            for name, engine in self.engines(description)
        ]

        def named(part: str) -> list[tuple[object, ...]]:
            rows = [(name, row) for name, parts in every for row in getattr(parts, part)]
            return [(f"{name}: {first}", *rest) for name, (first, *rest) in rows]

        return SheetParts(
            template="suite_sheet.toml.j2",
            values={},
            first=named("first"),  # type: ignore[arg-type]
            headline=named("headline"),  # type: ignore[arg-type]
            rows={
                "cores": [
                    (core, name, module, engine.family.summary)
                    for core, (name, module, engine) in enumerate(
                        zip(
                            self.suite.names,
                            self.suite.modules,
                            self.suite.engines,
                            strict=True,
                        )
                    )
                ]
            },
        )

    def kept(self, register: Register, word: int) -> int | None:
        """As of the first core."""
        return self.kinds[0].kept(register, word)

    def bench(self, description: Description) -> TestbenchParts:
        """Each engine's registers and operations or calls; all at once; a reset."""
        return suite_bench(description)

    def example(self, description: Description) -> Example:
        """An operation of the first engine of numbers, and each call of that of byte strings."""
        return suite_example(description)
