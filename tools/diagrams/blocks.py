"""Block diagrams of designs: components in their components, and who drives whom.

Names, classes and the first lines of docstrings come from the elaborated design. The arrows come
from its RTLIL: in a component, there is one from one part to another if an output of the one
arrives at an input of the other, by a wire or through multiplexers and registers of the component.
"""

import inspect
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from amaranth.back import rtlil
from amaranth.hdl import Fragment, Value
from amaranth.lib import wiring
from svg import COLOURS, LINE, WIDTH, Picture, wrap

WIDE = 8
"""Bits of a signal from which on its arrow is thick."""
_MARGIN, _PADDING, _GAP, _LANE, _PORT = 8, 8, 10, 10, 9

Bit = tuple[str, int]


@dataclass
class Block:
    """A component, or several of one class side by side."""

    names: list[str]
    kind: str
    summary: str
    parts: list["Block"]
    arrows: dict[tuple[int, int], int] = field(default_factory=dict)
    """Bits of the widest signal from one part to another, by their places in `parts`."""

    @property
    def title(self) -> str:
        """The names: both of two, else the first and the last one."""
        if len(self.names) < 3:
            return ", ".join(self.names)
        return f"{self.names[0]} … {self.names[-1]}"


def block_of(component: wiring.Component, name: str) -> Block:
    """Elaborate a design and find its parts and their arrows."""
    fragment = Fragment.get(component, None)
    return _block(fragment, [name], "top", _modules(fragment, component))


def cluster_of(
    ends: wiring.Component, node: wiring.Component, chain: wiring.Component, name: str
) -> Block:
    """The same of a cluster, whose parts are instances of modules of their own."""
    modules = _modules(Fragment.get(chain, None), chain)
    parts = []
    for part, instance in ((ends, "front_end"), (node, "node")):
        fragment = Fragment.get(part, None)
        own = _modules(fragment, part)
        parts.append(_block(fragment, [], "top", own))
        for cell in modules["top"].cells:
            if cell.startswith(instance):
                parts[-1].names.append(cell)
                modules[f"top.{cell}"] = own["top"]
    place = {cell: k for k, part in enumerate(parts) for cell in part.names}
    block = Block([name], type(chain).__name__, _summary(chain), parts)
    block.arrows = _arrows(modules, "top", place)
    return block


def _block(
    fragment: Fragment, names: list[str], path: str, modules: Mapping[str, "_Module"]
) -> Block:
    """The block of a fragment, which is module `path`."""
    component = next(one for one in fragment.origins if isinstance(one, wiring.Component))
    children = {
        str(name): part
        for part, name, *_ in fragment.subfragments
        if any(isinstance(one, wiring.Component) for one in part.origins or ())
    }
    module = modules[path]
    parts: list[Block] = []
    place: dict[str, int] = {}
    for cell in module.cells:
        if cell not in children or f"{path}.{cell}" not in modules:
            continue  # a part without hardware of its own, or a memory
        found = _block(children[cell], [cell], f"{path}.{cell}", modules)
        same = [k for k, one in enumerate(parts) if _alike(one, found)]
        place[cell] = same[0] if same else len(parts)
        if same:
            parts[same[0]].names.append(cell)
        else:
            parts.append(found)
    arrows = _arrows(modules, path, place)
    return Block(names, type(component).__name__, _summary(component), parts, arrows)


def _arrows(
    modules: Mapping[str, "_Module"], path: str, place: Mapping[str, int]
) -> dict[tuple[int, int], int]:
    """Bits of the widest signal from one part to another, by the parts' places."""
    arrows: dict[tuple[int, int], int] = {}
    for source, sink, bits in modules[path].arrows(modules, path):
        if source in place and sink in place and place[source] != place[sink]:
            arrow = place[source], place[sink]
            arrows[arrow] = max(arrows.get(arrow, 0), bits)
    return arrows


def _alike(one: Block, other: Block) -> bool:
    """Whether both are of one class, with parts that are."""
    return one.kind == other.kind and len(one.parts) == len(other.parts)


def _summary(component: object) -> str:
    """The first sentence of a docstring."""
    text = inspect.getdoc(type(component)) or ""
    first = " ".join(text.split("\n\n")[0].split()).replace("`", "")
    return re.split(r"(?<=\.) ", first)[0].removesuffix(".")


# --- RTLIL ----------------------------------------------------------------------------------------


@dataclass
class _Module:
    """A module: its ports, its cells' ports, and which bits pass a value on."""

    inputs: set[str] = field(default_factory=set)
    outputs: set[str] = field(default_factory=set)
    cells: dict[str, dict[str, list[Bit | None]]] = field(default_factory=dict)
    """By instance and port, the bits that are connected."""
    passes: dict[Bit, set[Bit]] = field(default_factory=lambda: defaultdict(set))
    """From a bit to those that take its value."""

    def arrows(self, modules: Mapping[str, "_Module"], path: str) -> Iterable[tuple[str, str, int]]:
        """(source, sink, bits): cells of which one drives the other, and by how many bits."""
        sinks: dict[Bit, set[tuple[str, str]]] = defaultdict(set)
        for cell, ports in self.cells.items():
            module = modules.get(f"{path}.{cell}", _Module())
            for port in module.inputs & set(ports):
                for bit in ports[port]:
                    if bit is not None:
                        sinks[bit].add((cell, port))
        for cell, ports in self.cells.items():
            module = modules.get(f"{path}.{cell}", _Module())
            for port in sorted(module.outputs & set(ports)):
                found: dict[tuple[str, str], int] = defaultdict(int)
                for bit in ports[port]:
                    if bit is not None:
                        for sink in {one for to in self._reached(bit) for one in sinks[to]}:
                            found[sink] += 1
                for (sink_cell, _), bits in found.items():
                    yield cell, sink_cell, bits

    def _reached(self, bit: Bit) -> set[Bit]:
        """The bits that may have the value of this one."""
        reached, pending = {bit}, [bit]
        while pending:
            for after in self.passes.get(pending.pop(), ()):
                if after not in reached:
                    reached.add(after)
                    pending.append(after)
        return reached


_SIGNAL = re.compile(r"([0-9]+'[01xz-]+)|([\\$][^\s\[\]{}]+)(?: \[(\d+)(?::(\d+))?\])?")
_WIRE = re.compile(r"wire width (\d+)(?: (input|output) \d+)?.* (\S+)$")


def _modules(fragment: Fragment, component: wiring.Component) -> dict[str, _Module]:
    """Convert a component, of which `fragment` is the elaborated form, and read its RTLIL."""
    ports = {
        "__".join(map(str, path)): (Value.cast(value), None)
        for path, _, value in component.signature.flatten(component)
    }
    text = rtlil.convert(fragment, name="top", ports=ports, emit_src=False)
    modules: dict[str, _Module] = {}
    for name, body in re.findall(r"^module \\(\S+)$(.*?)^end$", text, re.M | re.S):
        modules[_plain(name)] = _read(body)
    return modules


def _plain(name: str) -> str:
    """A name without the numbers that make it unique."""
    return re.sub(r"\$\d+", "", name)


def _read(body: str) -> _Module:
    """Read one module."""
    module, widths = _Module(), {}
    for line in body.splitlines():
        if wire := _WIRE.fullmatch(line.strip()):
            widths[wire[3]] = int(wire[1])
            if wire[2]:
                ports = module.inputs if wire[2] == "input" else module.outputs
                ports.add(wire[3])

    def bits(signals: str) -> list[Bit | None]:
        found: list[Bit | None] = []
        for constant, name, high, low in reversed(_SIGNAL.findall(signals)):
            if constant:
                found += [None] * len(constant.split("'")[1])
            elif high:
                found += [(name, k) for k in range(int(low or high), int(high) + 1)]
            else:
                found += [(name, k) for k in range(widths[name])]
        return found

    def passes(source: str, sink: str) -> None:
        for before, after in zip(bits(source), bits(sink), strict=False):
            if before is not None and after is not None:
                module.passes[before].add(after)

    for kind, name, inside in re.findall(r"^  cell (\S+) (\S+)\n(.*?)^  end$", body, re.M | re.S):
        wires = dict(re.findall(r"connect (\S+) (.*)", inside))
        if kind.startswith("\\"):
            instance = _plain(name.removeprefix("\\"))
            module.cells[instance] = {port: bits(to) for port, to in wires.items()}
        elif kind == "$mux":
            passes(wires["\\A"], wires["\\Y"])
            passes(wires["\\B"], wires["\\Y"])
        elif kind in ("$dff", "$dffe"):
            passes(wires["\\D"], wires["\\Q"])
    signal = r"(\{.*?\}|\S+(?: \[[\d:]+\])?)"
    for sink, source in re.findall(rf"^\s+assign {signal} {signal}$", body, re.M):
        passes(source, sink)
    for sink, source in re.findall(rf"^  connect {signal} {signal}$", body, re.M):
        passes(source, sink)
    return module


# --- Drawing --------------------------------------------------------------------------------------


def draw(block: Block, title: str, expanded: Iterable[str]) -> Picture:
    """Draw a design; parts of the components named in `expanded` are boxes, else only names."""
    picture = Picture(title)
    height = _Drawing(picture, {*expanded}).block(block, _MARGIN, _MARGIN, WIDTH - 2 * _MARGIN)
    note = (
        "An arrow: signals of one part arrive at the other, directly or through multiplexers and "
        f"registers of the box around both. Thick: of {WIDE} bits and more."
    )
    picture.height = picture.paragraph(_MARGIN + height, note) + 2
    return picture


def _contents(block: Block) -> str:
    """The names of the parts; of an only part, those of its parts, too."""
    names = ", ".join(part.title for part in block.parts)
    if len(block.parts) == 1 and block.parts[0].parts:
        return f"{names}, with {_contents(block.parts[0])}"
    return names


@dataclass
class _Drawing:
    """Boxes in boxes, and arrows to their right."""

    picture: Picture
    expanded: set[str]

    def block(
        self, block: Block, x: float, y: float, width: float, depth: int = 0, ports: int = 0
    ) -> float:
        """Draw a block, with room for so many ends of arrows; its height."""
        index, inner, bottom = len(self.picture.parts), width - 2 * _PADDING, y + 4
        opens = block.parts and (depth == 0 or self.expanded & set(block.names))
        texts = [("head", f"{block.title} · {block.kind}"), ("text", block.summary)]
        if block.parts and not opens:
            texts.append(("text soft", f"in it: {_contents(block)}"))
        for kind, text in texts:
            for line in wrap(text, inner, kind.split()[0]):
                bottom += LINE
                self.picture.text(x + _PADDING, bottom, line, kind)
        if opens:
            bottom = self._parts(block, x + _PADDING, bottom + _GAP, inner, depth + 1)
        height = max(bottom + _PADDING - y, (ports + 1) * _PORT)
        box = Picture("")
        box.box(x, y, width, height, "part" if depth % 2 else "box")
        self.picture.parts[index:index] = box.parts  # behind what is in it
        return height

    def _parts(self, block: Block, x: float, y: float, width: float, depth: int) -> float:
        """Draw the parts of a block, below each other, and their arrows; the end."""
        sources = {source for source, _ in block.arrows}
        width -= _LANE * (len(sources) + 1) if sources else 0
        at: dict[tuple[int, int], float] = {}  # by source and part, or twice the source
        for part, one in enumerate(block.parts):
            # From above, its own, and from below, so that few arrows cross.
            ends = sorted({a for a, b in block.arrows if part == b} | ({part} & sources))
            height = self.block(one, x, y, width, depth, ports=len(ends))
            for k, source in enumerate(ends):
                at[source, part] = y + height * (k + 1) / (len(ends) + 1)
            y += height + _GAP
        self._arrows(block, x + width, at)
        return y - _GAP

    def _arrows(self, block: Block, edge: float, at: Mapping[tuple[int, int], float]) -> None:
        """Draw the arrows of the parts, whose ends on the edge are at `at`."""
        sinks: dict[int, list[int]] = defaultdict(list)
        for source, sink in sorted(block.arrows):
            sinks[source].append(sink)
        # Short ways are next to the parts, long ones around them.
        order = sorted(sinks, key=lambda a: max(abs(a - b) for b in sinks[a]))
        for colour, source in enumerate(sinks):
            colour %= COLOURS
            lane = edge + _LANE * (order.index(source) + 1)
            begin = at[source, source]

            def line(path: str, bits: int, colour: int = colour) -> None:
                heavy = " wide" if bits >= WIDE else ""
                self.picture.path(path, f"line c{colour}{heavy}")

            self.picture.dot(edge, begin, f"t{colour}")
            widest = max(block.arrows[source, sink] for sink in sinks[source])
            line(f"M{edge:g} {begin:g} H{lane:g}", widest)
            for sink in sinks[source]:
                end, bits = at[source, sink], block.arrows[source, sink]
                line(f"M{lane:g} {begin:g} V{end:g} H{edge + 6:g}", bits)
                self.picture.path(f"M{edge:g} {end:g} l7 -4 v8 z", f"t{colour}")
