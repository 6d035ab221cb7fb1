"""What a value of a netlist is, and what a process computes."""

from collections.abc import Iterator

from .netlist import Assign, Body, Case, Part, Switch, Value, merged


def width_of(value: Value) -> int:
    """The number of a value's bits."""
    return sum(part.width for part in value)


def constant_of(value: Value) -> str | None:
    """The digits of a constant, `0` for one without bits; None for what is none."""
    if len(value) > 1 or (value and value[0].wire):
        return None
    return value[0].bits if value else "0"


def bits_of(value: Value, low: int, width: int) -> Value:
    """`width` bits of a value from bit `low` on."""
    found: list[Part] = []
    for part in value:
        first, last = max(low, 0), min(low + width, part.width)
        if first < last:
            digits = part.bits[part.width - last : part.width - first]
            found.append(Part(part.wire, part.low + first, last - first, digits))
        low -= part.width
    return tuple(found)


def lows_of(value: Value) -> list[int]:
    """Where each part of a value begins."""
    return [width_of(value[:place]) for place in range(len(value))]


def values_in(body: Body) -> Iterator[Value]:
    """Every value that a process assigns or decides by."""
    for one in body:
        yield one.value
        for case in one.cases if isinstance(one, Switch) else ():
            yield from values_in(case.body)


def first_of(body: Body) -> Assign:
    """What a process sets before it decides."""
    found = body[0]
    assert isinstance(found, Assign)
    return found


def simplified(switch: Switch) -> Switch:
    """The switch without constant bits, and without cases that they exclude."""
    bits = [bits_of(switch.value, bit, 1) for bit in range(width_of(switch.value))]
    known = [constant_of(bit) for bit in bits]
    value: list[Part] = []
    for bit, digit in zip(bits, known, strict=True):
        value += bit if digit is None else ()
    cases: list[Case] = []
    for case in switch.cases:
        patterns = [
            "".join(p for p, digit in zip(pattern[::-1], known, strict=True) if digit is None)[::-1]
            for pattern in case.patterns
            if all(
                p in ("-", digit) or digit is None
                for p, digit in zip(pattern[::-1], known, strict=True)
            )
        ]
        if not case.patterns or any(set(pattern) <= {"-"} for pattern in patterns):
            cases.append(Case((), case.body))
            break
        if patterns:
            cases.append(Case(tuple(patterns), case.body))
    return Switch(merged(value), cases)


def retargeted(body: Body, wire: str) -> Body:
    """The process with its assignments going to another wire."""

    def renamed(one: Assign | Switch) -> Assign | Switch:
        if isinstance(one, Assign):
            parts = (Part(wire, part.low, part.width) for part in one.target)
            return Assign(tuple(parts), one.value)
        return Switch(
            one.value, [Case(case.patterns, retargeted(case.body, wire)) for case in one.cases]
        )

    return [renamed(one) for one in body]
