"""One module of a netlist as Verilog."""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import count, groupby

from .expressions import (
    ARITHMETIC,
    BITWISE,
    COMPARISONS,
    EXACT,
    LOW_BITS,
    OPERATORS,
    OWN,
    REDUCTIONS,
    SHIFTS,
    UNARY,
    WHOLE,
    WIDER,
    Expression,
)
from .names import Names
from .netlist import (
    Assign,
    Body,
    Cell,
    NetlistModule,
    Part,
    Switch,
    Value,
    Wire,
)
from .text import (
    KEPT_ATTRIBUTES,
    LONGEST_PART,
    attributes_of,
    block,
    controlled,
    identifier,
    indented,
    inverse_of,
    is_simple,
    listed,
    meanings_of,
    number,
    pattern,
    range_of,
    wrap,
)
from .values import (
    bits_of,
    constant_of,
    first_of,
    lows_of,
    retargeted,
    simplified,
    values_in,
    width_of,
)

_MOST_CHOICES = 2
"""Conditions from which on a choice is a block, not a conditional expression. Yosys maps blocks to
fewer LUTs than nested expressions (a modular multiplier: 664 LUTs in place of 680 with up to three
conditions)."""
_FEWEST_WORDS = 4  # equal words of a memory in a row that are written as a loop


class Writer:
    """One module: what is called how, and its text."""

    def __init__(self, module: NetlistModule, name: str, hints: Mapping[str, str]):
        self.module, self.name = module, name
        self.names = Names()
        self._numbers = count(1)
        self._blocks: set[str] = set()  # wires that blocks assign to
        self._pending: list[Cell] = []  # operators whose results have names, to be written
        self._pending_aliases: list[tuple[Value, str]] = []
        self._written: set[str] = set()
        self._starts_at_zero = False
        self._narrow()
        self._count_uses()
        self._name_wires(hints)

    # Uses and names

    def _narrow(self) -> None:
        """Take off the upper bits of results that nobody uses."""
        used: dict[str, int] = {}
        for value in self._used():
            for part in value:
                used[part.wire] = max(used.get(part.wire, 0), part.low + part.width)
        for cell in self._cells():
            if cell.kind in OPERATORS:
                wire = self.module.wires[cell.ports["Y"][0].wire]
                if wire.name.startswith("$"):
                    wire.width = min(wire.width, used.get(wire.name, wire.width))
                    cell.ports["Y"] = (Part(wire.name, 0, wire.width),)

    def _used(self) -> Iterator[Value]:
        """Every value that something takes."""
        for one in self.module.connections:
            yield one.value
        for content in self.module.contents:
            if isinstance(content, Cell):
                yield from (value for port, value in content.ports.items() if port != "Y")
            else:
                yield from values_in(content)

    def _count_uses(self) -> None:
        """Find what drives each wire, and how often it is used; a part of it counts twice."""
        self.uses: Counter[str] = Counter()
        self.drivers: dict[str, Cell] = {}
        self.processes: dict[str, Body] = {}
        for one in self.module.connections:
            if self.module.wires[one.target[0].wire].direction:
                self._count(one.value)
        for content in self.module.contents:
            if not isinstance(content, Cell):
                self._count_body(content)
                self.processes[first_of(content).target[0].wire] = content
                continue
            output = {"$memrd_v2": "DATA", "$dff": "Q"}.get(content.kind, "Y")
            for port, value in content.ports.items():
                if content.kind.startswith("$") and port == output:
                    self.drivers[value[0].wire] = content
                else:
                    self._count(value)
        # A process whose result has no name, and only goes into a register, is the register's.
        self.next_values = {
            source
            for cell in self.drivers.values()
            if cell.kind == "$dff"
            and (source := self._whole(cell.ports["D"])) in self.processes
            and self.uses[source] == 1
            and "$" in source
        }

    def _count(self, value: Value) -> None:
        for part in value:
            self.uses[part.wire] += 1 if self._whole((part,)) else 2

    def _count_body(self, body: Body) -> None:
        for one in body:
            self._count(one.value)
            for case in one.cases if isinstance(one, Switch) else ():
                self._count_body(case.body)

    def _whole(self, value: Value) -> str:
        """The name of the wire that a value is, if it is all of one."""
        if len(value) != 1 or not value[0].wire:
            return ""
        part = value[0]
        return part.wire if part.width == self.module.wires[part.wire].width else ""

    def _name_wires(self, hints: Mapping[str, str]) -> None:
        wires, names = self.module.wires, self.names
        connections = self.module.connections
        aliases = [one for one in connections if not wires[one.target[0].wire].direction]
        outputs = [one for one in connections if wires[one.target[0].wire].direction]
        self._aliased = aliased = {one.target[0].wire for one in aliases}
        ports = [wire.name for wire in wires.values() if wire.direction]
        signals = [name for name in wires if name not in aliased and name.startswith("\\")]
        instances = [cell.name for cell in self._cells() if not cell.kind.startswith("$")]
        for key in [*ports, *self.module.memories, *signals, *instances]:
            if "$" not in key and key not in names.given:
                names.add(key, identifier(key))
        # Values without a good name of their own have that of a port or a signal that they make.
        for one in sorted(aliases, key=lambda one: "." in one.target[0].wire):
            alias, whole = one.target[0].wire, self._whole(one.value)
            if whole and "$" not in alias and "$" in whole and whole not in names.given:
                names.add(whole, identifier(alias))
        for key in ports:
            if key not in names.given:
                name = identifier(key.partition("$")[0])
                names.add(key, hints.get(key, name) if name in ("port", "") else name)
        self.merged: dict[str, str] = {}
        for one in outputs:
            port, whole = one.target[0].wire, self._whole(one.value)
            if "$" in whole and whole in self.drivers and whole not in self.merged.values():
                self.merged[port] = whole
                names.given[whole] = names.given[port]
        self.aliases: dict[Value, str] = {}
        self.parts: dict[str, str] = {}
        for one in aliases:
            alias = one.target[0].wire
            if "$" not in alias and not self._whole(one.value) and constant_of(one.value) is None:
                self.aliases.setdefault(one.value, alias)
                for low, part in zip(lows_of(one.value), one.value, strict=True):
                    if self._whole((part,)):
                        self.parts.setdefault(part.wire, f"{identifier(alias)}_{low}")
        for key in [*self.module.memories, *signals, *instances]:
            if key not in names.given:
                name = identifier(key.partition("$")[0])
                names.add(key, name or self.parts.get(key, "signal"))

    def _cells(self) -> list[Cell]:
        return [content for content in self.module.contents if isinstance(content, Cell)]

    def names_at(self, module: str) -> dict[str, str]:
        """What the ports of a module inside this one are connected to, if that has a name."""
        return {
            f"\\{port}": self.names.given[whole].strip("\\ ")
            for cell in self._cells()
            if cell.kind == module
            for port, value in cell.ports.items()
            if (whole := self._whole(value)) in self.names.given
        }

    def _name(self, wire: str) -> str:
        """The identifier of a wire; what has none gets one, and is written on its own."""
        if wire not in self.names.given:
            self.names.add(wire, self.parts.get(wire, "") or f"n{next(self._numbers)}")
        driver = self.drivers.get(wire)
        if driver and driver.kind in OPERATORS and wire not in self._written:
            self._written.add(wire)
            self._pending.append(driver)
        return self.names.given[wire]

    # Expressions

    def _value(self, value: Value, use: int) -> Expression:
        """What a value is in Verilog, as it may be used in such a place."""
        whole = self._whole(value)
        if whole and whole not in self.names.given and whole in self.drivers:
            cell = self.drivers[whole]
            inverse = cell.kind == "$not" and self._whole(cell.ports["A"]) in self.names.given
            if cell.kind in OPERATORS and (self.uses[whole] == 1 or (inverse and len(value) == 1)):
                found = self._operator(cell)
                if found.use >= use and (use == WHOLE or len(found.text) <= LONGEST_PART):
                    return found
        if value in self.aliases:
            alias = self.aliases[value]
            if alias not in self.names.given:
                self.names.add(alias, identifier(alias))
                self._pending_aliases.append((value, alias))
            return Expression(self.names.given[alias])
        return self._concatenation(value)

    def _concatenation(self, value: Value) -> Expression:
        if not value:
            return Expression("1'h0")
        if len(value) == 1:  # what may not be used as it is
            return Expression(self._target(value) if value[0].wire else number(value[0].bits))
        texts = [self._part(part) for part in reversed(value)]
        runs = [(text, len(list(run))) for text, run in groupby(texts)]
        items = [text if count == 1 else f"{{{count}{{{text}}}}}" for text, count in runs]
        return Expression(items[0] if len(items) == 1 else f"{{{', '.join(items)}}}")

    def _part(self, part: Part) -> str:
        if not part.wire:
            return number(part.bits)
        if self._whole((part,)):
            if part.wire in self.drivers and part.wire not in self.names.given:
                cell = self.drivers[part.wire]
                if cell.kind in OPERATORS and self.uses[part.wire] == 1:
                    found = self._operator(cell)
                    if found.use >= OWN and len(found.text) <= LONGEST_PART:
                        return found.text
            return self._name(part.wire)
        return self._target((part,))

    def _target(self, value: Value) -> str:
        """A value that is assigned to."""
        texts = []
        for part in reversed(value):
            place = ""
            if not self._whole((part,)):
                high = part.low + part.width - 1
                place = f"[{high}:{part.low}]" if part.width > 1 else f"[{high}]"
            texts.append(self._name(part.wire) + place)
        return texts[0] if len(texts) == 1 else f"{{{', '.join(texts)}}}"

    def _operator(self, cell: Cell) -> Expression:
        """What an operator computes."""
        kind, width = cell.kind, width_of(cell.ports["Y"])
        if kind == "$mux":
            choice = self._value(cell.ports["S"], OWN).inside("?")
            arms = [self._value(bits_of(cell.ports[port], 0, width), EXACT) for port in "BA"]
            first, second = (arm.inside("?") for arm in arms)
            return Expression(f"{choice} ? {first} : {second}", "?", min(arm.use for arm in arms))
        operands = [cell.ports[port] for port in "AB" if port in cell.ports]
        if kind in LOW_BITS:
            operands = [bits_of(operand, 0, width) for operand in operands]
        widths = [max(1, width_of(operand)) for operand in operands]
        signed = cell.parameters["A_SIGNED"] == "1"
        if kind in COMPARISONS:
            a, b = self._compared(operands, signed)
            symbol = COMPARISONS[kind]
            return Expression(f"{a.inside(symbol)} {symbol} {b.inside(symbol)}", symbol)
        if kind in REDUCTIONS:
            symbol = REDUCTIONS[kind]
            return Expression(symbol + self._value(operands[0], OWN).inside("~"), "~")
        if kind == "$not" and widths == [1] and width == 1:
            return Expression("!" + self._value(operands[0], OWN).inside("!"), "!")
        use = OWN if max(widths[:1] if kind in SHIFTS else widths) == width else EXACT
        if signed:
            if kind in ("$divfloor", "$modfloor", "$shift"):
                raise NotImplementedError(f"{kind} of signed numbers")
            texts = [self._signed(operand) for operand in operands]
            use = WHOLE
        else:
            if kind in SHIFTS:
                places = [WIDER, OWN]
            else:
                exact = kind not in ("$divfloor", "$modfloor")
                places = [EXACT if exact and one == width else WIDER for one in widths]
            inner = [self._value(*pair) for pair in zip(operands, places, strict=True)]
            symbol = "~" if kind in UNARY else (ARITHMETIC | BITWISE | SHIFTS)[kind]
            texts = [one.inside(symbol) for one in inner]
            if use == OWN and (kind in BITWISE or kind == "$shr"):
                use = WIDER
            use = min([use, *(one.use for one in inner[: 1 if kind in SHIFTS else 2])])
        if kind in UNARY:
            return Expression(UNARY[kind] + texts[0], "~", use)
        symbol = (ARITHMETIC | BITWISE | SHIFTS)[kind]
        if signed and kind in SHIFTS:
            texts[1] = self._value(operands[1], OWN).inside(symbol)
        return Expression(f"{texts[0]} {symbol} {texts[1]}", symbol, use)

    def _compared(self, operands: list[Value], signed: bool) -> list[Expression]:
        if signed:
            return [Expression(self._signed(operand)) for operand in operands]
        widest = max(map(width_of, operands))
        return [
            Expression(number(digits.zfill(widest)))
            if (digits := constant_of(operand))
            else self._value(operand, OWN if width_of(operand) == widest else WIDER)
            for operand in operands
        ]

    def _signed(self, operand: Value) -> str:
        digits = constant_of(operand)
        if digits is not None:
            return number(digits, signed=True)
        return f"$signed({self._value(operand, OWN).text})"

    # Statements

    def _body(self, body: Body, symbol: str) -> list[str]:
        lines: list[str] = []
        for one in body:
            if isinstance(one, Switch):
                lines += self._switch(one, symbol)
            else:
                value = self._value(one.value, WHOLE).text
                lines.append(f"{self._target(one.target)} {symbol} {value};")
        return lines

    def _switch(self, switch: Switch, symbol: str) -> list[str]:
        switch = simplified(switch)
        if not switch.value:
            return self._body(switch.cases[0].body, symbol) if switch.cases else []
        arms = self._arms(switch)
        if arms is None:
            return self._case(switch, symbol)
        bodies = [(condition, self._body(body, symbol)) for condition, body in arms]
        while bodies and not bodies[-1][1]:
            bodies.pop()
        if len(bodies) == 2 and not bodies[0][1] and not bodies[1][0]:
            bodies = [(inverse_of(bodies[0][0]), bodies[1][1])]
        lines: list[str] = []
        for condition, body in bodies:
            head = f"if ({condition})" if condition else ""
            if lines:
                end = f"{lines.pop()} " if lines[-1] == "end" else ""
                head = f"{end}else {head}".rstrip()
            lines += controlled(head, body)
        return lines

    def _arms(self, switch: Switch) -> list[tuple[str, Body]] | None:
        """Conditions with what they lead to, none for `else`; None if each is not a single bit."""
        arms: list[tuple[str, Body]] = []
        seen: set[tuple[int, str]] = set()
        for case in switch.cases:
            tested = [
                (bit, digit)
                for pattern in case.patterns
                for bit, digit in enumerate(reversed(pattern))
                if digit != "-"
            ]
            if len(tested) > 1 or len(case.patterns) > 1:
                return None
            if not tested or (tested[0][0], "10"[int(tested[0][1])]) in seen:
                arms.append(("", case.body))
                break
            bit, digit = tested[0]
            seen.add((bit, digit))
            condition = self._value(bits_of(switch.value, bit, 1), OWN)
            arms.append(
                (condition.text if digit == "1" else f"!{condition.inside('!')}", case.body)
            )
        return arms

    def _case(self, switch: Switch, symbol: str) -> list[str]:
        wild = any("-" in pattern for case in switch.cases for pattern in case.patterns)
        arms: list[tuple[tuple[str, ...], list[str]]] = []
        for case in switch.cases:
            patterns = (number(one) if not wild else pattern(one) for one in case.patterns)
            arms.append((tuple(patterns), self._body(case.body, symbol)))
        while arms and not arms[-1][1]:
            arms.pop()
        if not wild and all(patterns for patterns, _ in arms):
            arms = [(patterns, body) for patterns, body in arms if body]
        if not arms:
            return []
        value = self._value(switch.value, OWN)
        if len(arms) == 1 and len(arms[0][0]) == 1 and not wild:
            return controlled(f"if ({value.inside('==')} == {arms[0][0][0]})", arms[0][1])
        lines = [f"{'casez' if wild else 'case'} ({value.text})"]
        for labels, body in arms:
            label = f"{', '.join(labels) or 'default'}:"
            lines += indented(controlled(label, body) if body else [f"{label} ;"])
        return [*lines, "endcase"]

    def _choice(self, body: Body) -> Expression | None:
        """A process as a conditional expression; None if it is more than one."""
        target, default = first_of(body).target, first_of(body).value
        if len(body) == 1:
            return self._value(default, WHOLE)
        switch = body[1]
        if len(body) > 2 or isinstance(switch, Assign):
            return None
        arms = self._arms(simplified(switch))
        if arms is None or len(arms) >= _MOST_CHOICES:
            return None
        text = ""
        for condition, inner in arms:
            if len(inner) > 1 or any(
                isinstance(one, Switch) or one.target != target for one in inner
            ):
                return None
            value = inner[0].value if inner else default
            if not condition:
                default = value
                break
            text += f"{condition if is_simple(condition) else f'({condition})'} ? "
            text += f"{self._value(value, EXACT).inside('?')} : "
        return Expression(text + self._value(default, EXACT).inside("?"), "?")

    def _combinational(self, body: Body) -> list[str]:
        target = first_of(body).target
        choice = self._choice(body)
        if choice:
            return [f"assign {self._target(target)} = {choice.text};"]
        self._blocks.add(target[0].wire)
        if not self._starts_at_zero:
            self._starts_at_zero = True
            self.names.add("time_zero", "time_zero")
        start = f"if ({self.names.given['time_zero']}) begin end"
        return block("always @*", [start, *self._body(body, "=")])

    def _register(self, cell: Cell) -> list[str]:
        if cell.kind != "$dff":
            raise NotImplementedError(f"a cell {cell.kind} cannot be written as Verilog")
        q = cell.ports["Q"]
        self._blocks.add(q[0].wire)
        source = self._whole(cell.ports["D"])
        body: Body = [Assign(q, cell.ports["D"])]
        if source in self.next_values:
            body = retargeted(self.processes[source], q[0].wire)
            if body[0] == Assign(q, q):
                body = body[1:]
        return controlled(self._edge(cell), self._body(body, "<="))

    def _edge(self, cell: Cell) -> str:
        edge = "posedge" if cell.parameters["CLK_POLARITY"] == "1" else "negedge"
        return f"always @({edge} {self._value(cell.ports['CLK'], OWN).text})"

    def _instance(self, cell: Cell, writers: Mapping[str, "Writer"]) -> list[str]:
        inner = writers.get(cell.kind)
        names = inner.names.given if inner else {}
        parameters = [
            f".{name}({number(value.partition(chr(39))[2]) if chr(39) in value else value})"
            for name, value in cell.parameters.items()
        ]
        ports = [
            f".{names.get(chr(92) + name, name)}({self._value(value, OWN).text})"
            for name, value in cell.ports.items()
            if value
        ]
        kind = inner.name if inner else cell.kind[1:]
        name = self.names.given[cell.name]
        # A vendor's cell has those that its instance states.
        lines = attributes_of(cell.attributes, KEPT_ATTRIBUTES if inner else cell.attributes)
        if parameters:
            lines += [f"{kind} #(", *indented(listed(parameters)), f") {name} ("]
        else:
            lines.append(f"{kind} {name} (")
        return [*lines, *indented(listed(ports)), ");"]

    # Memories

    def _memory_port(self, cell: Cell) -> list[str]:
        memory = self.names.given[cell.parameters["MEMID"].strip('"').replace("\\\\", "\\")]
        if cell.kind == "$meminit_v2":
            return self._contents(memory, cell)
        word = f"{memory}[{self._value(cell.ports['ADDR'], OWN).text}]"
        if cell.kind == "$memrd_v2":
            if "1" in cell.parameters["TRANSPARENCY_MASK"].partition("'")[2]:
                raise NotImplementedError("a transparent port of a memory")
            data = self._target(cell.ports["DATA"])
            if cell.parameters["CLK_ENABLE"] == "0":
                return [f"assign {data} = {word};"]
            self._blocks.add(cell.ports["DATA"][0].wire)
            statement = f"{data} <= {word};"
            if constant_of(cell.ports["EN"]) != "1":
                statement = f"if ({self._value(cell.ports['EN'], OWN).text}) {statement}"
            return controlled(self._edge(cell), [statement])
        enable, data_bits = cell.ports["EN"], cell.ports["DATA"]
        statements: list[str] = []
        low = 0
        each = [bits_of(enable, bit, 1) for bit in range(width_of(enable))]
        for bit, run in groupby(each):
            count = len(list(run))
            place = "" if count == len(each) else f"[{low + count - 1}:{low}]"
            data = self._value(bits_of(data_bits, low, count), WHOLE).text
            condition = "" if constant_of(bit) == "1" else f"if ({self._value(bit, OWN).text}) "
            statements.append(f"{condition}{word}{place} <= {data};")
            low += count
        return controlled(self._edge(cell), statements)

    def _contents(self, memory: str, cell: Cell) -> list[str]:
        """The initial words of a memory; where some in a row are equal, as a loop."""
        width = int(cell.parameters["WIDTH"])
        bits = constant_of(cell.ports["DATA"]) or ""
        words = [
            bits[len(bits) - low - width : len(bits) - low] for low in range(0, len(bits), width)
        ]
        index = self.names.add(f"{memory} index", "word")
        lines: list[str] = []
        first = 0
        for word, run in groupby(words):
            end = first + len(list(run))
            if end - first < _FEWEST_WORDS:
                lines += [f"{memory}[{k}] = {number(word)};" for k in range(first, end)]
            else:
                lines.append(f"for ({index} = {first}; {index} < {end}; {index} = {index} + 1)")
                lines.append(f"  {memory}[{index}] = {number(word)};")
            first = end
        if any(line.startswith("for") for line in lines):
            lines.insert(0, f"integer {index};")
        name = self.names.add(f"{memory} words", f"{memory.strip()}_words".lstrip("\\"))
        return [f"initial begin : {name}", *indented(lines), "end"]

    # The module

    def text(self, writers: Mapping[str, "Writer"], comments: Mapping[str, str]) -> str:
        """The module's text, with comments on its ports."""
        instances: list[str] = []
        logic: list[str] = []
        registers: list[str] = []
        memories: list[str] = []
        for content in self.module.contents:
            if not isinstance(content, Cell):
                if first_of(content).target[0].wire not in self.next_values:
                    logic += self._combinational(content)
            elif not content.kind.startswith("$"):
                instances += self._instance(content, writers)
            elif content.kind.startswith("$mem"):
                memories += self._memory_port(content)
            elif content.kind not in OPERATORS:
                registers += self._register(content)
            elif content.ports["Y"][0].wire in self.names.given:
                self._name(content.ports["Y"][0].wire)
        for one in self.module.connections:
            port = one.target[0].wire
            if self.module.wires[port].direction and port not in self.merged:
                value = self._value(one.value, WHOLE).text
                logic.append(f"assign {self.names.given[port]} = {value};")
        views, values = self._pending_lines()
        if self._starts_at_zero:
            time_zero = self.names.given["time_zero"]
            logic += [
                "// Starts the blocks above at time 0; in SystemVerilog, initial values do not.",
                "/* verilator lint_off INITIALDLY */",
                f"initial {time_zero} <= 1'b0;",
                "/* verilator lint_on INITIALDLY */",
            ]
        parts = [self._declarations(), views, instances, values + logic, registers, memories]
        body = "\n".join(
            "".join(f"{text}\n" for line in indented(part) for text in wrap(line))
            for part in parts
            if part
        )
        return f"module {self.name} (\n{self._ports(comments)});\n{body}endmodule\n"

    def _pending_lines(self) -> tuple[list[str], list[str]]:
        """Signals that other values make up, and operators whose results are used by name."""
        views: list[str] = []
        values: list[str] = []
        while self._pending or self._pending_aliases:
            if self._pending:
                cell = self._pending.pop(0)
                value = self._operator(cell).text
                values.append(f"assign {self._target(cell.ports['Y'])} = {value};")
            else:
                parts, alias = self._pending_aliases.pop(0)
                text = self._concatenation(parts).text
                views.append(f"wire {range_of(width_of(parts))}{self.names.given[alias]} = {text};")
        return views, values

    def _declared(self, wire: Wire) -> str:
        """A declaration, up to the initial value."""
        kind = "reg" if wire.name in self._blocks else "wire"
        initial = wire.attributes.get("init", "").partition("'")[2]
        value = f" = {number(initial)}" if initial and kind == "reg" else ""
        return f"{kind:4} {range_of(wire.width)}{self.names.given[wire.name]}{value}"

    def _ports(self, comments: Mapping[str, str]) -> str:
        ports = [wire for wire in self.module.wires.values() if wire.direction and wire.width]
        lines: list[str] = []
        for port in ports:
            wire = self.module.wires[self.merged.get(port.name, port.name)]
            comma = "," if port is not ports[-1] else ""
            line = f"  {port.direction:6} {self._declared(wire)}{comma}"
            comment = comments.get(port.name[1:]) or meanings_of(port) or meanings_of(wire)
            lines += [
                *indented(attributes_of(wire.attributes)),
                line + (f"  // {comment}" * bool(comment)),
            ]
        return "".join(f"{line}\n" for line in lines)

    def _declarations(self) -> list[str]:
        lines: list[str] = []
        if self._starts_at_zero:
            lines.append(f"reg  {self.names.given['time_zero']};")
        merged = set(self.merged.values())
        for wire in self.module.wires.values():
            alias = wire.name in self._aliased
            if (
                wire.direction
                or alias
                or not wire.width
                or wire.name not in self.names.given
                or wire.name in merged
            ):
                continue
            meanings = meanings_of(wire)
            lines += attributes_of(wire.attributes)
            lines.append(f"{self._declared(wire)};" + (f"  // {meanings}" if meanings else ""))
        for memory in self.module.memories.values():
            name = self.names.given[memory.name]
            lines += attributes_of(memory.attributes)
            lines.append(f"reg  {range_of(memory.width)}{name} [0:{memory.depth - 1}];")
        return lines
