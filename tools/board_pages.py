"""Write docs/boards/NAME.md and NAME.svg from the boards' records: `make board-pages`."""

from html import escape
from pathlib import Path

from coprime.catalog import family_named
from coprime.flow.board import Board
from coprime.flow.boards import BOARDS
from coprime.soc.board_design import board_name
from coprime.soc.board_files import LEDS, five_commands, meaning

FOLDER = Path(__file__).parents[1] / "docs" / "boards"
_INPUTS = ("clk", "button", "rx")
_ROW, _TOP, _WIDTH = 44, 70, 940
_LEFT, _RIGHT = 340, 600  # edges of the FPGA


def pages() -> dict[str, str]:
    """Every file by its name; boards that differ in the device alone share a page."""
    files = {}
    for board in BOARDS.values():
        if _shared(board) == board.name:
            files[f"{board.name}.md"] = _page(board)
            files[f"{board.name}.svg"] = picture(board)
    return files


def _shared(board: Board) -> str:
    """Name of the first board with the same pins."""
    return next(one.name for one in BOARDS.values() if one.pins == board.pins)


def _page(board: Board) -> str:
    choice = family_named(board.family).choose(board.values)
    commands = five_commands(choice, board, folder=f"build/{board.name}")
    others = [one.name for one in BOARDS.values() if one.pins == board.pins]
    open_flow = bool(board.flow.nextpnr)
    project = [f"vivado -mode batch -source build/{board.name}/{board_name(choice, board)}.tcl"]
    setup = "make boards" if open_flow and board.target.value != "ecp5" else "make setup"
    rows = [
        f"| `{port}` | {pin.site} | {pin.label} | {meaning(port)}{_level(board, port)} |"
        for port, pin in board.pins.items()
    ]
    oscillator = f"{board.oscillator_mhz:g} MHz"
    clock = f"{oscillator}, the oscillator's"
    if board.clock_mhz:
        clock = f"{board.clock_mhz:g} MHz, or `--clock`"
    elif board.generates_clock:
        clock = "[0.8 of what the routed design allows](../boards.md#the-clock), or `--clock`"
    notes = "".join(f"* {note}\n" for note in (board.serial, *board.notes))
    names = f"\nIts names on the command line: {', '.join(f'`{name}`' for name in others)}.\n"
    untried = "**We have not loaded a bitstream on this board.** The design is simulated"
    if open_flow:
        untried += "; [a table](../boards.md#bitstreams) has the boards that it was placed for."
    else:
        untried += ". We have not run the project in Vivado either."
    return f"""# {board.title}

<!-- tools/board_pages.py writes this page from the board's record. -->

{untried}
{names if len(others) > 1 else ""}
![Pins of the board]({board.name}.svg)

| | |
|---|---|
| device | {board.device.title} |
| oscillator | {oscillator} |
| clock | {clock} |
| accelerator | `{choice.command("synth").removeprefix("coprime synth ")}` |
| pins from | {board.source} |

## From the box to a decrypted message

Once, in the checkout: `{setup}`, and for loading libftdi1 (on Debian:
`apt-get install libftdi1-2`). Connect the board. Then

```
{chr(10).join([commands[0], *([] if open_flow else project), *commands[1:]])}
```

The last one prints `Hello`. `/dev/ttyUSB0` stands for the board's serial port: look with
`ls /dev/ttyUSB* /dev/ttyACM*`. What errors mean is in [the serial link](../serial.md).

{notes}
## Pins

| port | pin | on the board | |
|---|---|---|---|
{chr(10).join(rows)}

## If you have this board

Please send us: what the LEDs show after loading and after the button; the output of
`coprime program` and of the last command; `report.json`; the board's revision. That a LED or the
button works the other way round, or a pin is wrong, is as welcome.
"""


def _level(board: Board, port: str) -> str:
    if not board.pins[port].active_low:
        return ""
    return " (0 is pressed)" if port == "button" else " (0 is lit)"


def picture(board: Board) -> str:
    """The FPGA with its pins, and what each is connected to."""
    sides = {side: [p for p in board.pins if (p in _INPUTS) == (side < 0)] for side in (-1, 1)}
    rows = max(len(ports) for ports in sides.values())
    height = _TOP + rows * _ROW + 40
    middle = (_LEFT + _RIGHT) // 2
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" '
        f'height="{height}" font-family="sans-serif" font-size="15">',
        f'<rect x="1" y="1" width="{_WIDTH - 2}" height="{height - 2}" rx="14" fill="#eef4ee" '
        'stroke="#3c6e47" stroke-width="2"/>',
        _text(20, 30, board.title, bold=True),
        f'<rect x="{_LEFT}" y="{_TOP - 24}" width="{_RIGHT - _LEFT}" height="{rows * _ROW + 30}" '
        'rx="6" fill="#303840"/>',
        _text(middle, _TOP + rows * _ROW - 6, board.device.title, "middle", colour="#c8d0d8"),
    ]
    for side, ports in sides.items():
        edge = _LEFT if side < 0 else _RIGHT
        for number, port in enumerate(ports):
            parts += _row(board, port, edge, side, _TOP + 8 + number * _ROW)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _row(board: Board, port: str, edge: int, side: int, y: int) -> list[str]:
    """A pin: its port inside, its site at the edge, and the place on the board outside."""
    pin = board.pins[port]
    end = edge + side * 90
    outward = "end" if side < 0 else "start"
    label = pin.label or f"oscillator, {board.oscillator_mhz:g} MHz"
    arrow = edge if side < 0 else end
    parts = [
        f'<line x1="{edge}" y1="{y}" x2="{end}" y2="{y}" stroke="#303840" stroke-width="2"/>',
        f'<path d="M{arrow} {y} l-9 -5 v10 z" fill="#303840"/>',
        _text(edge - side * 12, y + 5, port, "start" if side < 0 else "end", colour="#ffffff"),
        _text(edge + side * 45, y - 6, pin.site, "middle"),
        _text(end + side * 30, y + 5, label, outward),
    ]
    if port in LEDS:
        parts.append(
            f'<circle cx="{end + side * 14}" cy="{y}" r="8" fill="#f2c14e" stroke="#8a6d1a"/>'
        )
    elif port == "button":
        parts += [
            f'<rect x="{end + side * 14 - 9}" y="{y - 9}" width="18" height="18" rx="3" '
            'fill="#d0d4d8" stroke="#606870"/>',
            f'<circle cx="{end + side * 14}" cy="{y}" r="5" fill="#606870"/>',
        ]
    else:
        parts.append(
            f'<rect x="{end + side * 14 - 8}" y="{y - 6}" width="16" height="12" fill="#7fa8d1" '
            'stroke="#34597f"/>'
        )
    return parts


def _text(
    x: int, y: int, text: str, anchor: str = "start", colour: str = "#202428", bold: bool = False
) -> str:
    weight = ' font-weight="bold" font-size="18"' if bold else ""
    place = f'x="{x}" y="{y}" text-anchor="{anchor}" fill="{colour}"{weight}'
    return f"<text {place}>{escape(text)}</text>"


def main() -> None:
    """Write them all."""
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
