"""The package of a design: all its files."""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from coprime.bus.kinds import Bus
from coprime.catalog import AnyDesign, CallChoice, Choice, ClusterChoice, SuiteChoice
from coprime.cells.target import Target
from coprime.flow.files import write_file
from coprime.flow.noise_module import check_noise
from coprime.flow.parts import refuse_paddings
from coprime.padding.scheme import Padding

from . import (
    constraints,
    data_sheet,
    drivers,
    fusesoc,
    headers,
    ip_xact,
    lint,
    readme,
    svd,
    template,
    timing,
    vendor,
    vivado,
    zynq,
)
from .describe import describe
from .description import Description
from .figures import Figures
from .license import licensed
from .manifest import MANIFEST, check_replaceable, manifest
from .testbench import folder as testbench

__all__ = ["check_design", "package", "write_package"]


def _verilog(description: Description) -> Mapping[str, str]:
    return {description.verilog: description.kind.verilog(description.target, description.bus)}


_FILES: tuple[Callable[[Description], Mapping[str, str]], ...] = (
    _verilog,
    template.files,
    constraints.files,
    headers.files,
    drivers.files,
    svd.files,
    ip_xact.files,
    vivado.files,
    lint.files,
    fusesoc.files,
    zynq.files,
    vendor.files,
    data_sheet.files,
    timing.files,
    testbench.files,
)
"""In the order in which `coprime build` prints them."""


def package(description: Description) -> Mapping[str, str]:
    """The text of each file of a package, by its path in the folder."""
    contents = licensed(
        {path: text for files in _FILES for path, text in files(description).items()}
    )
    contents |= licensed(readme.files(description, [*contents, MANIFEST]))
    return contents | {MANIFEST: manifest(contents)}


def check_design(
    choice: AnyDesign, paddings: Collection[Padding] = (), target: Target = Target.GENERIC
) -> None:
    """Raise ValueError for paddings of what has none: a cluster, engines of byte strings; and for
    a noise source that the target has not.
    """
    if isinstance(choice, SuiteChoice):
        check_noise(choice.source, target)
        if paddings and not any(isinstance(engine, Choice) for engine in choice.engines):
            raise ValueError("no engine of the suite works on numbers: leave --padding out")
        return
    if isinstance(choice, ClusterChoice):
        refuse_paddings(paddings)
    else:
        check_noise(choice.source, target)
    if isinstance(choice, CallChoice) and paddings:
        raise ValueError(f"{choice.family.name} works on byte strings: leave --padding out")


def write_package(
    choice: AnyDesign,
    target: Target,
    folder: Path,
    bus: Bus = Bus.AXI4_LITE,
    paddings: Collection[Padding] = (),
    clock_mhz: float | None = None,
    figures: Figures | None = None,
    *,
    force: bool = False,
) -> list[Path]:
    """Write the package of an accelerator, or of a cluster, into `folder`, made if need be.

    `clock_mhz` is the clock of the user's system, if it is known, and `figures` are those of the
    data sheet. Gives the files' paths, the Verilog first. Raises OSError if they cannot be written,
    FileExistsError, before any is, if one would replace a file that the user wrote or changed,
    unless `force` is set, and ValueError as `check_design`.
    """
    check_design(choice, paddings, target)
    contents = package(describe(choice, target, bus, paddings, clock_mhz, figures))
    if not force:
        check_replaceable(folder, contents)
    for name, text in contents.items():
        write_file(folder / name, text)
    return [folder / name for name in contents]
