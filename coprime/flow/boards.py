"""The boards that bitstreams are written for, a record each."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from amaranth_boards import arty_a7, icebreaker, orangecrab_r0_2, tang_nano_9k, ulx3s

from coprime.cells.target import Target

from .board import Board, Pin
from .targets import DEVICES, FpgaDevice
from .targets.ecp5 import ecp5_device

__all__ = ["BOARDS", "board_named"]

_AMARANTH = "amaranth-boards"


def _pin(platform: type[Any], path: str, label: str = "", **attributes: str) -> Pin:
    """A pin of one of Amaranth's platforms; `path` is "name number" or "name number part"."""
    name, number, *part = path.split()
    for resource in (*platform.resources, *getattr(platform, "break_off_pmod", ())):
        if (resource.name, resource.number) == (name, int(number)):
            ios = next(io for io in resource.ios if not part or getattr(io, "name", "") == part[0])
            pins = ios.ios[0] if part else ios
            return Pin(
                _site(platform, pins),
                MappingProxyType({**resource.attrs, **attributes}),
                label,
                pins.invert,
            )
    raise LookupError(f"{platform.__name__} has no {path}")


def _site(platform: type[Any], pins: Any) -> str:
    """The package's pin, if need be by the connector that the name belongs to."""
    (name,) = pins.names
    connector, _, place = name.partition(":")
    if not place:
        return str(name)
    for one in platform.connectors:
        if f"{one.name}_{one.number}" == connector:
            return str(one.mapping[place])
    raise LookupError(f"{platform.__name__} has no connector {connector}")


def _ulx3s(name: str, platform: type[Any]) -> Board:
    leds = ("busy", "passed", "failed", "session")
    return Board(
        name=name,
        title=f"ULX3S with {platform.device}",
        target=Target.ECP5,
        device=ecp5_device(platform.device, speed=platform.speed),
        clock_mhz=25,
        pins={
            "clk": _pin(platform, "clk25 0"),
            "button": _pin(platform, "button_fire 0", "F1 (fire 1)"),
            "rx": _pin(platform, "uart 0 rx", "US1 (USB)", PULLMODE="UP"),
            "tx": _pin(platform, "uart 0 tx", "US1 (USB)"),
            **{
                f"led_{role}": _pin(platform, f"led {number}", f"D{number}")
                for number, role in enumerate(leds)
            },
            "led_clock": _pin(platform, "led 7", "D7"),
        },
        source=_AMARANTH,
        serial="The USB socket US1 is a serial port, of the board's FT231X.",
        loader=("--board", "ulx3s"),
        notes=(
            "Choose the board's name by the device that is printed on the FPGA: ulx3s (25F),"
            " ulx3s-12f, ulx3s-45f or ulx3s-85f. Another device refuses the bitstream.",
        ),
    )


def _orangecrab() -> Board:
    platform = orangecrab_r0_2.OrangeCrabR0_2_25FPlatform
    (connector,) = platform.connectors
    wire = {"IO_TYPE": "LVCMOS33"}
    return Board(
        name="orangecrab",
        title="OrangeCrab 0.2 with LFE5U-25F",
        target=Target.ECP5,
        device=ecp5_device(platform.device, package="CSFBGA285", speed=platform.speed),
        clock_mhz=48,
        pins={
            "clk": _pin(platform, "clk 0"),
            "button": _pin(platform, "button 0", "button"),
            "rx": Pin(connector.mapping["0"], {**wire, "PULLMODE": "UP"}, "pin 0"),
            "tx": Pin(connector.mapping["1"], wire, "pin 1"),
            "led_busy": _pin(platform, "rgb_led 0 b", "LED, blue"),
            "led_passed": _pin(platform, "rgb_led 0 g", "LED, green"),
            "led_failed": _pin(platform, "rgb_led 0 r", "LED, red"),
        },
        source=_AMARANTH,
        serial="Connect a USB-to-serial adapter of 3.3 V: TX to pin 0, RX to pin 1, and GND.",
        loader=("--board", "orangeCrab"),
        notes=(
            "Hold the button while you connect USB: the bootloader then takes the bitstream (DFU).",
        ),
    )


def _tang_nano_9k() -> Board:
    platform = tang_nano_9k.TangNano9kPlatform
    leds = ("busy", "passed", "failed", "session", "clock")
    return Board(
        name="tang-nano-9k",
        title="Sipeed Tang Nano 9K",
        target=Target.GOWIN,
        device=DEVICES["GW1NR-9C"],
        clock_mhz=27,
        pins={
            "clk": _pin(platform, "clk27 0"),
            "button": _pin(platform, "button 1", "S1"),
            "rx": _pin(platform, "uart 0 rx", "USB"),
            "tx": _pin(platform, "uart 0 tx", "USB"),
            **{
                f"led_{role}": _pin(platform, f"led {number}", f"LED{number}")
                for number, role in enumerate(leds)
            },
        },
        source=_AMARANTH,
        serial="The USB socket has two ports, JTAG and serial: the second one is the serial port.",
        loader=("--board", "tangnano9k"),
    )


def _tang_nano_20k() -> Board:
    io = {"IO_TYPE": "LVCMOS33"}
    leds = ("busy", "passed", "failed", "session", "clock")
    return Board(
        name="tang-nano-20k",
        title="Sipeed Tang Nano 20K",
        target=Target.GOWIN,
        device=DEVICES["GW2AR-18C"],
        clock_mhz=27,
        pins={
            "clk": Pin("4", io),
            "button": Pin("88", {**io, "PULL_MODE": "DOWN"}, "S1"),
            "rx": Pin("70", {**io, "PULL_MODE": "UP"}, "USB"),
            "tx": Pin("69", io, "USB"),
            **{
                f"led_{role}": Pin(str(15 + number), io, f"LED{number}", active_low=True)
                for number, role in enumerate(leds)
            },
        },
        source="litex-boards (sipeed_tang_nano_20k)",
        serial="The USB socket has two ports, JTAG and serial: the second one is the serial port.",
        loader=("--board", "tangnano20k"),
    )


def _icebreaker() -> Board:
    platform = icebreaker.ICEBreakerPlatform
    return Board(
        name="icebreaker",
        title="iCEBreaker 1.0",
        target=Target.ICE40,
        device=DEVICES["UP5K"],
        clock_mhz=12,
        pins={
            "clk": Pin("35", {}),
            "button": Pin("10", {"pullup": "yes"}, "UBUTTON", active_low=True),
            "rx": Pin("6", {"pullup": "yes"}, "USB"),
            "tx": Pin("9", {}, "USB"),
            "led_busy": Pin("11", {}, "LEDR (red)", active_low=True),
            "led_passed": Pin("37", {}, "LEDG (green)", active_low=True),
            "led_failed": Pin(_pin(platform, "led_r 1").site, {}, "PMOD2, LED1 (red)"),
            "led_session": Pin(_pin(platform, "led_g 1").site, {}, "PMOD2, LED2 (green)"),
            "led_clock": Pin(_pin(platform, "led_g 2").site, {}, "PMOD2, LED3 (green)"),
        },
        source=_AMARANTH,
        serial="The USB socket has two ports: the first one loads, the second one is serial.",
        loader=("--board", "ice40_generic"),
        notes=("The last three LEDs are on the part that can be broken off, at PMOD2.",),
    )


def _crosslink_nx_evn() -> Board:
    io = {"IO_TYPE": "LVCMOS33"}
    leds = {"busy": "E17", "passed": "F13", "failed": "G13", "session": "F14", "clock": "L16"}
    return Board(
        name="crosslink-nx-evn",
        title="Lattice CrossLink-NX Evaluation Board (LIFCL-40-EVN)",
        target=Target.NEXUS,
        device=DEVICES["LIFCL-40"],
        clock_mhz=12,
        pins={
            "clk": Pin("L13", io),
            "button": Pin("G14", {**io, "PULLMODE": "UP"}, "SW2", active_low=True),
            "rx": Pin("D10", {**io, "PULLMODE": "UP"}, "PMOD0, pin 1"),
            "tx": Pin("D9", io, "PMOD0, pin 2"),
            **{
                f"led_{role}": Pin(site, io, f"general purpose LED {number}", active_low=True)
                for number, (role, site) in enumerate(leds.items())
            },
        },
        source="litex-boards (lattice_crosslink_nx_evn), prjoxide's example blinky_evn",
        serial="Connect a USB-to-serial adapter of 3.3 V to PMOD0: TX to pin 1, RX to pin 2,"
        " and GND.",
        loader=("--board", "crosslinknx_evn"),
        notes=(
            "Jumper JP2 (12 MHz) must be in place.",
            "The board's own serial port needs resistors soldered (R15, R17), so PMOD0 is used.",
        ),
    )


def _gatemate_olimex() -> Board:
    return Board(
        name="gatemate-olimex",
        title="Olimex GateMateA1-EVB",
        target=Target.GATEMATE,
        device=DEVICES["CCGM1A1"],
        clock_mhz=10,
        pins={
            "clk": Pin("IO_SB_A8", {"SCHMITT_TRIGGER": "true"}),
            "button": Pin("IO_SB_B7", {"PULLUP": "true"}, "FPGA_BUT1", active_low=True),
            "rx": Pin("IO_SA_A6", {"PULLUP": "true"}, "USB"),
            "tx": Pin("IO_SA_B6", {}, "USB"),
            "led_passed": Pin("IO_SB_B6", {}, "FPGA_LED", active_low=True),
        },
        source="litex-boards (olimex_gatemate_a1_evb)",
        serial="The USB socket is JTAG and a serial port, by the board's RP2040.",
        loader=("--board", "olimex_gatemateevb"),
        notes=("There is one LED: it is lit when the self-test has passed.",),
    )


def _arty(name: str, platform: type[Any], loader: str) -> Board:
    return Board(
        name=name,
        title=f"Digilent Arty A7 with {platform.device.upper()}",
        target=Target.XC7,
        device=FpgaDevice(
            title=f"{platform.device}{platform.package}-{platform.speed}",
            options=(),
            luts=0,
            block_rams=0,
            dsp_slices=0,
        ),
        clock_mhz=50,
        oscillator_mhz=100,
        pins={
            "clk": _pin(platform, "clk100 0"),
            "button": _pin(platform, "button 0", "BTN0"),
            "rx": _pin(platform, "uart 0 rx", "USB", PULLUP="true"),
            "tx": _pin(platform, "uart 0 tx", "USB"),
            "led_busy": _pin(platform, "led 0", "LD4"),
            "led_passed": _pin(platform, "led 1", "LD5"),
            "led_failed": _pin(platform, "led 2", "LD6"),
            "led_session": _pin(platform, "led 3", "LD7"),
        },
        source=_AMARANTH,
        serial="The USB socket has two ports, JTAG and serial: the second one is the serial port.",
        loader=("--board", loader),
    )


BOARDS: Mapping[str, Board] = MappingProxyType(
    {
        board.name: board
        for board in (
            _ulx3s("ulx3s", ulx3s.ULX3S_25F_Platform),
            _ulx3s("ulx3s-12f", ulx3s.ULX3S_12F_Platform),
            _ulx3s("ulx3s-45f", ulx3s.ULX3S_45F_Platform),
            _ulx3s("ulx3s-85f", ulx3s.ULX3S_85F_Platform),
            _orangecrab(),
            _tang_nano_9k(),
            _tang_nano_20k(),
            _icebreaker(),
            _crosslink_nx_evn(),
            _gatemate_olimex(),
            _arty("arty-a7-35", arty_a7.ArtyA7_35Platform, "arty_a7_35t"),
            _arty("arty-a7-100", arty_a7.ArtyA7_100Platform, "arty_a7_100t"),
        )
    }
)
"""Every known board by name. "ulx3s" is the one with the LFE5U-25F."""


def board_named(name: str) -> Board:
    """Look a board up; ValueError that lists them if there is none."""
    if name not in BOARDS:
        raise ValueError(f"no board is called {name!r}; there are: {', '.join(BOARDS)}")
    return BOARDS[name]
