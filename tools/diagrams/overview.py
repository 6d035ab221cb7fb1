"""Pictures of what there is: families, operations, package, system, token, boards, evidence.

Names, summaries, numbers and files come from the catalogue, the boards' records and a package; what
a sentence adds is written here.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from svg import LINE, WIDTH, Picture, wrap

from coprime.bus.kinds import Bus
from coprime.catalog import FAMILIES, MODULUS
from coprime.cells.target import Target
from coprime.engine.contract import Command
from coprime.flow.boards import BOARDS
from coprime.package.describe import describe
from coprime.package.package import package
from coprime.package.readme import purpose
from coprime.soc.riscv import ACCELERATOR, COPY_ENGINE, RAM_BYTES

_MARGIN, _PADDING, _GAP = 8, 8, 10

Card = tuple[str, str]
"""A head, and the text below it."""


def _card(picture: Picture, x: float, y: float, width: float, card: Card, height: float) -> float:
    """Draw a card, at least so high; its height."""
    head, text = card
    inner, index, bottom = width - 2 * _PADDING, len(picture.parts), y + 4
    for kind, words in (("head", head), ("text", text)):
        for line in wrap(words, inner, kind):
            bottom += LINE
            picture.text(x + _PADDING, bottom, line, kind)
    box = Picture("")
    height = max(height, bottom + _PADDING - y)
    box.box(x, y, width, height)
    picture.parts[index:index] = box.parts
    return height


def _row(picture: Picture, y: float, cards: Sequence[Card]) -> float:
    """Draw cards of one height next to each other; the y below them."""
    width = (WIDTH - 2 * _MARGIN - (len(cards) - 1) * _GAP) / len(cards)
    height = max(_card(Picture(""), 0, 0, width, card, 0) for card in cards)
    for k, card in enumerate(cards):
        _card(picture, _MARGIN + k * (width + _GAP), y, width, card, height)
    return y + height + _GAP


def _arrow(picture: Picture, y: float, note: str = "") -> float:
    """Draw an arrow from the row above to the one below; the y below it."""
    picture.path(f"M{WIDTH / 2:g} {y - _GAP:g} V{y + 10:g}", "line c0")
    picture.path(f"M{WIDTH / 2:g} {y + 16:g} l-5 -9 h10 z", "t0")
    if note:
        picture.text(WIDTH / 2 + 14, y + 8, note, "text soft")
    return y + 16


def _heading(picture: Picture, y: float, text: str) -> float:
    picture.text(_MARGIN, y + LINE, text, "head")
    return y + LINE + 8


def _flow(title: str, rows: Iterable[tuple[str, Sequence[Card]]]) -> Picture:
    """Draw rows of cards with arrows between them, each with what it carries."""
    picture = Picture(title)
    y: float = _MARGIN
    for note, cards in rows:
        y = _row(picture, y if y == _MARGIN else _arrow(picture, y, note), cards)
    picture.height = y - _GAP + _MARGIN
    return picture


def coprime() -> Picture:
    """From a choice to hardware and software."""
    bits = max(bits for family in FAMILIES.values() for bits in family.sizes)
    targets = len([target for target in Target if target is not Target.GENERIC])
    rows = (
        (
            "",
            [
                ("You choose", f"one of {len(FAMILIES)} architectures, RSA or curves or both"),
                ("and a size", f"16 to {bits:,} bits, one DSP slice to a whole FPGA"),
                ("for a target", f"{targets} FPGA families, {' or '.join(_buses())}"),
            ],
        ),
        (
            "coprime build",
            [
                (
                    "The accelerator, in Verilog",
                    "Bus, registers and buffers: keys go in, only results can be read. Engine: a "
                    "sequencer with operations as lists of steps, a memory of numbers, a "
                    "multiplier, a linear unit for sums and checks.",
                )
            ],
        ),
        (
            "with it you get",
            [
                ("to rely on", "exact cycles, area, clock; faults, power and time assessed"),
                ("to build with", "testbench, data sheet, bitstreams, a simulated device"),
                ("to use it", "drivers in C and Python, a token for TLS and SSH"),
            ],
        ),
    )
    return _flow("From a choice of architecture, size and target to hardware and software", rows)


def _buses() -> list[str]:
    return [{Bus.AXI4_LITE: "AXI4-Lite", Bus.AXI4: "AXI4"}[bus] for bus in Bus]


_SOURCES = {
    "": "Ours",
    "FDFM": "Ito, Nakano, Song 2011",
    "BITSERIAL": "Amanor, Paar, Pelzl, Bunimov, Schimmler 2005",
    "KARATSUBA": "San, At 2014",
    "COMPRESSION": "Vassoler 2023",
}
"""By the short name of a family's paper, in the order of the picture."""


def families() -> Picture:
    """The families by their sources, two in a row."""
    picture = Picture("The engine families, by where they come from")
    y: float = 0
    for paper, source in _SOURCES.items():
        y = _heading(picture, y + 2, source)
        cards = [
            (family.name, family.summary.removesuffix(", with CRT"))
            for family in FAMILIES.values()
            if (family.paper or "") == paper
        ]
        for k in range(0, len(cards), 2):
            y = _row(picture, y, cards[k : k + 2])
    picture.height = y - _GAP + _MARGIN
    return picture


_GROUPS = (
    ("Numbers and RSA", None),
    ("Short Weierstrass curves: ECDSA, ECDH", "weierstrass"),
    ("Edwards curves: EdDSA", "edwards"),
    ("Montgomery curves: X25519, X448", "montgomery"),
)
_COLUMN = 27
_NAME_WIDTH = 158


def operations() -> Picture:
    """Which family has which operation."""
    picture = Picture("Which family has which operation")
    columns = {name: _NAME_WIDTH + 60 + k * _COLUMN for k, name in enumerate(FAMILIES)}
    y: float = 112
    for name, x in columns.items():
        turn = f'transform="rotate(-60 {x:g} {y - 6:g})"'
        picture.parts.append(f'<text class="text" x="{x:g}" y="{y - 6:g}" {turn}>{name}</text>')
    for title, curves in _GROUPS:
        y = _heading(picture, y, title)
        own = [one for one in Command if one.operation.computes and _curves(one) == curves]
        for command in own:
            y += LINE + 2
            picture.text(_MARGIN + _PADDING, y, command.name, "text")
            for name, x in columns.items():
                if kind := _has(name, command):
                    picture.parts.append(
                        f'<circle class="{kind}" cx="{x:g}" cy="{y - 4:g}" r="5.5"/>'
                    )
        y += 6
    y += 12
    for x, kind, text in (
        (_MARGIN + 6, "xy", "always"),
        (_MARGIN + 86, "qm", "with a parameter: curves=, ecdsa= or modexp2="),
    ):
        picture.parts.append(f'<circle class="{kind}" cx="{x:g}" cy="{y + 4:g}" r="5.5"/>')
        picture.text(x + 12, y + 8, text, "text soft")
    picture.height = y + 20
    return picture


def _curves(command: Command) -> str | None:
    setting = command.operation.setting
    return setting[1] if setting and setting[0] == "curves" else None


def _has(name: str, command: Command) -> str:
    """The class of a dot: "xy" for an operation of every design, "qm" for one of some, or ""."""
    family = FAMILIES[name]
    fixed = any(one.name == MODULUS for one in family.settings)
    if command in family.choose({MODULUS: "3329"} if fixed else {}).design.capabilities.commands:
        return "xy"
    setting, value = command.operation.setting or (command.name.lower(), "1")
    known = {one.name: one for one in family.settings}
    others = command.operation.settings
    if setting not in known or any(one not in known for one, usual in others if usual != "host"):
        return ""
    return "qm" if value else ""


def build_folder() -> Picture:
    """The files of a package, with what each is for."""
    design = FAMILIES["compact"].choose({})
    paths = package(describe(design, Target.XC7, Bus.AXI4_LITE, (), None, None))
    own = describe(design, Target.XC7, Bus.AXI4_LITE, (), None, None)
    picture = Picture("What coprime build writes for compact on 7 series")
    y: float = _heading(picture, 0, "coprime build compact --target xc7 -o DIR")
    files = dict(purpose(own, path) for path in paths if path != "README.md")
    for name, text in {"README.md": "where to begin", **files}.items():
        plain = text.replace("`", "").split("[")[0].rstrip(": ,")
        y += 2
        index, top = len(picture.parts), y
        for row, line in enumerate(wrap(plain, WIDTH - 230 - 2 * _MARGIN)):
            y += LINE
            if row == 0:
                picture.text(_MARGIN + _PADDING, y, name, "text")
            picture.text(230, y, line, "text soft")
        y += 5
        box = Picture("")
        box.box(_MARGIN, top, WIDTH - 2 * _MARGIN, y - top)
        picture.parts[index:index] = box.parts
    picture.height = y + _MARGIN
    return picture


def system() -> Picture:
    """The system on chip that firmware runs on."""
    rows = (
        ("", [("Firmware in C", "the driver; decrypts, encrypts, compares with software")]),
        (
            f"memory at 0, {RAM_BYTES >> 10} KiB",
            [("PicoRV32", "RISC-V, rv32im, 32-bit accesses, one interrupt from the accelerator")],
        ),
        (
            "AXI4-Lite or AXI4",
            [
                ("UART", "prints what the firmware says"),
                (f"accelerator at {ACCELERATOR:#x}", "any family, as coprime build writes it"),
                (f"copy engine at {COPY_ENGINE:#x}", "bursts, with AXI4 only"),
            ],
        ),
    )
    return _flow("The RISC-V system with an accelerator that coprime soc simulates", rows)


def token_use() -> Picture:
    """From a program by the token to an engine."""
    rows = (
        (
            "",
            [
                ("TLS", "OpenSSL, nginx, GnuTLS, NSS"),
                ("SSH", "logins, agents, signed files and commits"),
                ("Programs", "Java, Go, Rust, Python, C"),
            ],
        ),
        (
            "PKCS #11",
            [
                (
                    "libcoprime-pkcs11.so",
                    "Keys sealed in one file, PINs, certificates, ciphers; every result of an "
                    "engine is verified before a program sees it.",
                )
            ],
        ),
        (
            "private operations",
            [
                ("sim", "an engine, simulated in the process"),
                ("serial:", "a board at a serial port"),
                ("uio:", "hardware under Linux, one engine or a cluster"),
            ],
        ),
    )
    return _flow("Programs, the PKCS #11 token and its engines", rows)


def boards() -> Picture:
    """The boards, with device and oscillator."""
    picture = Picture("The boards that Coprime has complete designs for")
    by_device: dict[tuple[str, str], list[str]] = {}
    for board in BOARDS.values():
        by_device.setdefault((board.target.value, board.device.title.split()[0]), []).append(
            board.name
        )
    cards = [
        (", ".join(names), f"{device}, {target}") for (target, device), names in by_device.items()
    ]
    y: float = _MARGIN
    for k in range(0, len(cards), 2):
        y = _row(picture, y, cards[k : k + 2])
    picture.height = y - _GAP + _MARGIN
    return picture


def evidence() -> Picture:
    """What is compared with what, from the algorithm to the device."""
    rows = (
        (
            "",
            [
                (
                    "The algorithm, in integers",
                    "Compared with Python's pow and the cryptography package; its bounds are "
                    "asserted, and exhaustive for short operands.",
                )
            ],
        ),
        (
            "the same value in every step",
            [
                ("Schedules", "proved for all operands, length by length"),
                ("Multipliers", "small ones proved whole by a solver"),
                ("Cycles", "predicted, compared in every run"),
            ],
        ),
        (
            "Verilog",
            [
                ("Simulators", "Verilator, Icarus Verilog, a bus master of others"),
                ("Netlists", "what Yosys maps decrypts, in simulation"),
                ("Routing", "clocks of placed designs, bitstreams made twice"),
            ],
        ),
        (
            "device",
            [
                ("Others' tests", "Wycheproof, OpenSSL, PKCS #11 suites"),
                ("Attacks", "injected faults, simulated power, constant time"),
                ("Papers", "every table next to ours, with the command that measures it"),
            ],
        ),
    )
    return _flow("What is compared with what, from the algorithm to the device", rows)


PICTURES: Mapping[str, Callable[[], Picture]] = {
    "coprime": coprime,
    "families": families,
    "operations": operations,
    "package": build_folder,
    "system": system,
    "token-use": token_use,
    "boards": boards,
    "evidence": evidence,
}
"""By the name of the file."""
