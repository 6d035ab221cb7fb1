"""`coprime synth`: the area and clock of a design, or a bitstream for a board."""

import argparse

from coprime.bus.kinds import Bus
from coprime.bus.serial.protocol import BAUD
from coprime.catalog import CALL_FAMILIES, CallChoice, Choice, ClusterChoice
from coprime.cells.target import Target
from coprime.explore.measure import Area, PartToMap, estimate_gates, measure_area
from coprime.flow.board import BoardResult
from coprime.flow.boards import board_named
from coprime.flow.noise_module import check_noise
from coprime.flow.part_names import PARTS, UNIT_GATE
from coprime.flow.parts import part_verilog
from coprime.soc.board_files import BoardProject, build_board, build_board_cluster

from .key_files import take_modulus
from .options import (
    chosen_clock,
    chosen_engine,
    chosen_of_all,
    chosen_of_any,
    chosen_paddings,
)
from .output import check_folder, print_result
from .progress import announce, progress


def run(options: argparse.Namespace) -> None:
    """Print what the design uses.

    Raises ValueError for a missing target, and for an option without the one that it belongs to;
    and as `take_modulus`.
    """
    take_modulus(options)
    if options.board is not None:
        _build_board(
            options,
            chosen_of_any(options)
            if options.stamp or options.family in CALL_FAMILIES
            else chosen_engine(options, "a board without --stamp"),
        )
        return
    choice = chosen_of_all(options)
    if options.target is None:
        raise ValueError("name what to map to: --target, or a board with --board")
    if options.baud is not None:
        raise ValueError("--baud is for the serial port of a board: name one with --board")
    if options.clock is not None:
        raise ValueError("--clock is for the design on a board: name one with --board")
    if options.output is not None:
        raise ValueError("-o is for the bitstream of a board: name one with --board")
    if options.stamp and not options.route:
        raise ValueError("--stamp is a way to place and route: add --route")
    if options.device is not None and not options.route:
        raise ValueError("--device is what to place and route on: add --route")
    if options.seeds < 1:
        raise ValueError(f"--seeds must be 1 or more, not {options.seeds}")
    if options.seeds > 1 and (options.stamp or not options.route):
        raise ValueError("--seeds is of place and route: add --route, and leave --stamp out")
    if options.paths < 0:
        raise ValueError(f"--paths must be 0 or more, not {options.paths}")
    if options.paths and (options.stamp or not options.route):
        raise ValueError("--paths is of place and route: add --route, and leave --stamp out")
    if options.target == UNIT_GATE:
        _estimate(options, chosen_engine(options, f"--target {UNIT_GATE}"))
        return
    if not isinstance(choice, ClusterChoice):
        check_noise(choice.source, Target(options.target))
    announce(choice)
    with progress(f"mapping {options.family}"):
        area = area_of(options)
    rows: list[tuple[str, object]] = [
        ("device", area.device),
        ("LUTs", f"{area.lut} ({area.lutram} of them as memory)"),
        ("flip-flops", area.ff),
        ("carry cells", area.carry),
        ("DSP", area.dsp),
        ("block RAM", f"{area.bram:g}"),
        ("slices", f"at least {area.slices_estimate}"),
    ]
    if area.fmax_mhz is not None:
        rows += [("clock", f"{area.fmax_mhz:.1f} MHz"), ("critical path", area.critical_path)]
    rows += [
        (f"{path.ns:.2f} ns into", f"{path.component}: {path.end}") for path in area.late_paths
    ]
    if area.stamped is not None:
        rows += [(f"{count} times", name) for name, count in area.stamped.rectangles.items()]
        rows += [
            (f"alone: {name}", ", ".join(f"{mhz:.1f} MHz" for mhz in clocks.values()))
            for name, clocks in area.stamped.block_mhz.items()
        ]
    rows.append(("tools", ", ".join(f"{k} {v}" for k, v in area.tools.items())))
    print_result(area, rows, as_json=options.json)


def area_of(options: argparse.Namespace) -> Area:
    """What the design of these options takes. Raises as `measure_area`."""
    return measure_area(
        chosen_of_all(options),
        Target(options.target),
        part=options.part,
        route=options.route,
        stamp=options.stamp,
        device=options.device or "",
        seeds=options.seeds,
        late_paths=options.paths,
        paddings=chosen_paddings(options),
        bus=Bus(options.bus),
    )


def measured_text(options: argparse.Namespace) -> str:
    """The Verilog that is mapped, or estimated. Raises as `PartToMap`."""
    choice, part = chosen_of_all(options), options.part or PARTS[0]
    if options.target == UNIT_GATE:
        return part_verilog(chosen_engine(options, f"--target {UNIT_GATE}"), part)[0]
    paddings, bus = chosen_paddings(options), Bus(options.bus)
    return PartToMap(choice, part, Target(options.target), paddings, bus).verilog


def _estimate(options: argparse.Namespace, choice: Choice) -> None:
    """Print what the generic design is in unit gates."""
    if options.route:
        raise ValueError(f"unit gates are not placed: leave out --route, or --target {UNIT_GATE}")
    if options.bus != Bus.AXI4_LITE.value or chosen_paddings(options):
        raise ValueError(f"--target {UNIT_GATE} is for one bus and no padding: leave those out")
    announce(choice)
    with progress(f"estimating {options.family}"):
        gates = estimate_gates(choice, options.part or PARTS[0])
    rows: list[tuple[str, object]] = [
        ("area", f"{gates.gate_area:,} unit gates"),
        ("delay", f"{gates.gate_delay:,} unit gates"),
        ("flip-flops", gates.ff),
        ("memory", f"{gates.memory_bits:,} bits"),
        ("tools", ", ".join(f"{k} {v}" for k, v in gates.tools.items())),
    ]
    print_result(gates, rows, as_json=options.json)


def _build_board(options: argparse.Namespace, choice: Choice | CallChoice | ClusterChoice) -> None:
    board = board_named(options.board)
    if options.device is not None:
        raise ValueError(f"the board {board.name} has its own device: leave --device out")
    if options.target not in (None, board.target.value):
        raise ValueError(f"the board {board.name} has {board.target.value}, not {options.target}")
    if options.output is None:
        raise ValueError("--board needs -o DIR, the folder for the bitstream")
    if chosen_paddings(options):
        raise ValueError("a board's accelerator is without padding")
    check_folder("-o", options.output)
    baud = BAUD if options.baud is None else options.baud
    if baud < 1:
        raise ValueError(f"--baud must be at least 1, not {baud}")
    result: BoardResult | BoardProject
    clock = chosen_clock(options)
    if isinstance(choice, ClusterChoice):
        if clock is not None:
            raise ValueError("a stamped cluster runs at its board's own clock: leave --clock out")
        with progress(f"stamping a cluster on {board.name}"):
            result = build_board_cluster(choice, board, options.output, baud=baud)
    elif options.stamp:
        raise ValueError("only a cluster has something to stamp: name the family cluster")
    else:
        with progress(f"placing {choice.family.name} on {board.name}"):
            result = build_board(choice, board, options.output, baud=baud, clock=clock)
    print_result(result, list(result.record().items()), as_json=options.json)
