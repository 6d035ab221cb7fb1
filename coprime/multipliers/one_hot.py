"""State machines with a flip-flop for each state."""

from collections.abc import Iterable

from amaranth.hdl import Cat, Module, Signal, Value, ValueLike


class OneHot:
    """A state machine with a flip-flop for each state, so that a state selects from a flip-flop.

    An encoded state would be decoded on the path to what it selects.

    Parameters
    ----------
    states (iterable of str): their names; those of the flip-flops, too
    init (str): the state after a reset

    Attributes
    ----------
    now, next (dict of str to Signal): 1 in a state, and in the cycle before it
    valid (Value): 0 where one flip-flop has a wrong value: an even number of them is 1

    Raises ValueError where `init` is not one of the states.
    """

    def __init__(self, states: Iterable[str], init: str):
        names = tuple(states)
        if init not in names:
            raise ValueError(f"init must be one of {', '.join(names)}, not {init!r}")
        self.now = {name: Signal(name=name, init=name == init) for name in names}
        self.next = {name: Signal(name=f"{name}_next") for name in names}
        self.valid = Cat(self.now.values()).xor()
        self._entries: dict[str, list[Value]] = {name: [] for name in names}
        self._exits: dict[str, list[Value]] = {name: [] for name in names}

    def change(self, source: str, target: str, condition: ValueLike = 1) -> None:
        """Go from one state to another where the condition is 1.

        At most one condition of a source may be 1 at a time.
        """
        found = Value.cast(condition)
        self._entries[target].append(self.now[source] & found)
        self._exits[source].append(found)

    def build(self, m: Module) -> None:
        """Add the flip-flops to the module; each state has been given its changes."""
        for name, state in self.now.items():
            stays = state & ~Cat(self._exits[name]).any()
            m.d.comb += self.next[name].eq(stays | Cat(self._entries[name]).any())
            m.d.sync += state.eq(self.next[name])
