"""The description of what `coprime build` makes of a choice."""

from collections.abc import Collection

from coprime.bus.kinds import Bus
from coprime.catalog import AnyDesign, CallChoice, ClusterChoice, SuiteChoice
from coprime.cells.target import Target
from coprime.padding.scheme import Padding

from .description import Description, Kind
from .figures import Figures
from .kinds.calls import CallKind
from .kinds.cluster import ClusterKind
from .kinds.numbers import NumberKind
from .kinds.suite import SuiteKind


def describe(
    choice: AnyDesign,
    target: Target,
    bus: Bus = Bus.AXI4_LITE,
    paddings: Collection[Padding] = (),
    clock_mhz: float | None = None,
    figures: Figures | None = None,
) -> Description:
    """Describe what `coprime build` makes of a choice."""
    kind = _kind(choice, tuple(paddings))
    return Description(choice, kind, target, bus, tuple(paddings), clock_mhz, figures or Figures())


def _kind(choice: AnyDesign, paddings: tuple[Padding, ...]) -> Kind:
    if isinstance(choice, CallChoice):
        return CallKind(choice)
    if isinstance(choice, ClusterChoice):
        return ClusterKind(choice)
    if isinstance(choice, SuiteChoice):
        return SuiteKind(choice, paddings)
    return NumberKind(choice, paddings)
