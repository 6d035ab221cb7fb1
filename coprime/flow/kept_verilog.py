"""Verilog of simulated designs, kept: it takes longer to write than a short simulation to run.

What `coprime build` writes is never taken from here.
"""

import sys
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from coprime.bus.kinds import Bus
from coprime.catalog import (
    CLUSTER,
    SUITE,
    CallChoice,
    Choice,
    ClusterChoice,
    SuiteChoice,
    is_known,
)
from coprime.cells.target import Target
from coprime.padding.scheme import Padding

from .cache import cached, find_cached
from .parts import accelerator_verilog, cluster_verilog, suite_verilog
from .sources import sources, sources_changed
from .tools import tool_version

_FILE = "design.v"
_PACKAGES = ("amaranth", "python-sat")
"""Whose versions the text may depend on: python-sat finds places of numbers."""


def kept_accelerator(
    choice: Choice | CallChoice,
    target: Target = Target.GENERIC,
    paddings: Collection[Padding] = (),
) -> str:
    """`accelerator_verilog` with AXI4-Lite."""
    names = (*(padding.value for padding in paddings), choice.source.value)
    return _kept(
        [choice],
        (choice.family.name, *names, target.value, repr(sorted(choice.values.items()))),
        lambda: accelerator_verilog(choice, target, paddings=paddings),
    )


def kept_cluster(choice: ClusterChoice, bus: Bus = Bus.AXI4_LITE) -> str:
    """`cluster_verilog` for no target."""
    return _kept(
        [choice.core],
        (CLUSTER, bus.value, repr(sorted(choice.values.items()))),
        lambda: cluster_verilog(choice, bus=bus),
    )


def kept_suite(
    choice: SuiteChoice,
    target: Target = Target.GENERIC,
    paddings: Collection[Padding] = (),
) -> str:
    """`suite_verilog` with AXI4-Lite."""
    names = (*(padding.value for padding in paddings), choice.source.value)
    return _kept(
        choice.engines,
        (SUITE, *names, target.value, repr(list(choice.values.items()))),
        lambda: suite_verilog(choice, target, paddings=tuple(paddings)),
    )


def _kept(
    engines: Sequence[Choice | CallChoice], names: tuple[str, ...], write: Callable[[], str]
) -> str:
    """The text of a design that `names` stand for, all parameters among them.

    They do so only in the catalogue: a family of somebody's own may be called the same. And only
    sources that are as this process has loaded them can be what the text is kept under.
    """
    if not all(is_known(engine.family) for engine in engines) or sources_changed():
        return write()
    key = (
        *(sources(), sys.version, *(f"{name} {tool_version(name)}" for name in _PACKAGES)),
        *names,
    )
    folder = find_cached("verilog", key)
    if folder is None:
        text = write()  # it reports itself that it takes long
        folder = cached("verilog", key, lambda fresh: _write(fresh, text))
    return (folder / _FILE).read_text("utf-8")


def _write(folder: Path, text: str) -> None:
    (folder / _FILE).write_text(text, encoding="utf-8")
