"""Which steps may begin while products are under way: none, products that chain, or others, too.

What the lanes see of it on integers is `LaneModel.chained`, and where products overlap `overlap`.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from amaranth.hdl import Cat, Const, Module, Value
from amaranth.lib import data
from amaranth.lib.wiring import In

from coprime.program.operands import Mode, Reference
from coprime.program.steps import BESIDE_PRODUCTS, Next, StepKind

from .feature import Feature
from .step_control import StepControl


class SequentialProducts(Feature):
    """A step begins when the one before it has ended. The base of those in which some need not."""

    shares = False
    """The linear unit works while products are under way."""

    def may_take(self, m: Module, control: StepControl) -> AbstractContextManager[None]:
        """When a step leaves the program memory."""
        return nullcontext()

    def may_begin(self, m: Module, control: StepControl) -> AbstractContextManager[None]:
        """When the fetched step begins."""
        return nullcontext()

    def waits(self, ports: Any, step: data.View) -> Mapping[str, Any]:
        """`linear_done`, `conflicts` and `occupied` of `StepControl`."""
        return {"linear_done": ports.linear_done, "conflicts": Const(0), "occupied": None}


def _stay_while_occupied(m: Module, control: StepControl) -> None:
    """An operation ends with the last thing under way."""
    with m.If(control.ports.occupied):
        m.d.comb += control.ports.done.eq(0)
        m.next = "END"


class ChainedProducts(SequentialProducts):
    """On one memory a product may begin before the one before it has ended, if both have the same
    modulus and lengths. In FETCH other steps wait, with the step before still under way.

    Ports
    -----
    occupied : a product is under way
    """

    def ports(self) -> Mapping[str, Any]:
        """Those above."""
        return {"occupied": In(1)}

    def may_take(self, m: Module, control: StepControl) -> AbstractContextManager[None]:
        """No other step while a product is under way."""
        fetched = control.fetched
        multiplies = (each.kind == StepKind.MULTIPLY for each in (fetched, control.step))
        same = (fetched[name] == control.step[name] for name in ("modulus", "outer"))
        taken: AbstractContextManager[None] = m.If(
            Cat(*multiplies, *same).all() | ~control.ports.occupied
        )
        return taken

    def waits(self, ports: Any, step: data.View) -> Mapping[str, Any]:
        """Products end later than they are done for the sequencer."""
        return {**super().waits(ports, step), "occupied": ports.occupied}

    def at_end(self, m: Module, control: StepControl) -> None:
        """The last product may be under way."""
        _stay_while_occupied(m, control)


class OverlappingProducts(SequentialProducts):
    """A product may begin before the one before it has ended; other steps wait.

    Ports
    -----
    occupied : the multiplier works, or the last digit of a linear step is not written yet
    """

    def ports(self) -> Mapping[str, Any]:
        """Those above."""
        return {"occupied": In(1)}

    def may_begin(self, m: Module, control: StepControl) -> AbstractContextManager[None]:
        """At once, or when nothing is under way."""
        begins: AbstractContextManager[None] = m.If(
            self._runs_beside_products(control.fetched) | ~control.ports.occupied
        )
        return begins

    def _runs_beside_products(self, fetched: data.View) -> Value:
        """Whether the fetched step need not wait until no product is under way."""
        is_product: Value = fetched.kind == StepKind.MULTIPLY
        return is_product


class SumsBesideProducts(OverlappingProducts):
    """While products are under way a PASS may begin, too, and a sum or a move, which may go on
    beside the steps that follow it.

    Ports
    -----
    occupied : as above
    conflicts : the sum or move has to wait all the same, for a product or another one
    adds, runs_on : a linear step is under way; its second digit has been asked for
    """

    shares = True

    def __init__(self, numbers: Mapping[Reference, int]):
        self._modes = [numbers[mode] for mode in Mode if mode in numbers]

    def ports(self) -> Mapping[str, Any]:
        """Those above."""
        return {**super().ports(), **dict.fromkeys(("conflicts", "adds", "runs_on"), In(1))}

    def _runs_beside_products(self, fetched: data.View) -> Value:
        is_product = fetched.kind == StepKind.MULTIPLY
        is_sum = fetched.kind.matches(*BESIDE_PRODUCTS) & ~fetched.destination.matches(*self._modes)
        return is_product | is_sum | (fetched.kind == StepKind.PASS)

    def waits(self, ports: Any, step: data.View) -> Mapping[str, Any]:
        """Sums and products wait for each other; but a step that does as `Step.runs_on` says may
        leave the sequencer."""
        named = (step.x, step.y, step.destination)
        stays = Cat(
            step.next == Next.IF_BORROW, *(number.matches(*self._modes) for number in named)
        ).any()
        goes_on = ports.runs_on & step.kind.matches(*BESIDE_PRODUCTS) & ~stays
        return {
            "linear_done": ports.linear_done | goes_on,
            "conflicts": ports.conflicts,
            "occupied": ports.adds,
        }

    def at_fault(self, m: Module, control: StepControl) -> None:
        """A sum that is under way is not cut off."""
        with m.If(control.ports.adds):
            m.d.comb += control.ports.clear.eq(0)
            m.next = "FAULT"

    def at_end(self, m: Module, control: StepControl) -> None:
        """The last sum may be under way."""
        _stay_while_occupied(m, control)


def products_under_way(
    numbers: Mapping[Reference, int], *, overlaps: bool, chains: bool, sums: bool
) -> SequentialProducts:
    """That of a multiplier and a program: products overlap, or chain; there are sums."""
    if overlaps:
        return SumsBesideProducts(numbers) if sums else OverlappingProducts()
    return ChainedProducts() if chains else SequentialProducts()
