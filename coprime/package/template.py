"""Instantiation templates in Verilog and VHDL."""

from collections.abc import Mapping

from coprime.flow.port_comments import BUS_PORTS

from .description import Description, Port

__all__ = ["files"]


def files(own: Description) -> Mapping[str, str]:
    """The declarations and the instance, for Verilog and for VHDL."""
    return {f"{own.name}_instance.vh": _verilog(own), f"{own.name}_instance.vhd": _vhdl(own)}


def _verilog(own: Description) -> str:
    width = max(len(port.name) for port in own.ports)
    wires = [f"wire {_range(port)}{port.name};  // {_comment(port)}" for port in own.ports]
    connections = [f"    .{port.name:{width}} ({port.name})" for port in own.ports]
    return "\n".join(
        [
            f"// Instance of {own.name}: copy this into your module, or `include it there, and",
            "// connect the wires. `in` and `out` are as seen from the accelerator.",
            "",
            *wires,
            "",
            f"{own.name} accelerator (",
            ",\n".join(connections),
            ");",
            "",
        ]
    )


def _range(port: Port) -> str:
    return f"[{port.width - 1}:0] " if port.width > 1 else ""


def _comment(port: Port) -> str:
    return f"{'out' if port.output else 'in'}: {BUS_PORTS[port.name]}"


def _vhdl(own: Description) -> str:
    width = max(len(port.name) for port in own.ports)
    ports = [
        f"      {port.name:{width}} : {'out' if port.output else 'in '} {_type(port)}"
        for port in own.ports
    ]
    connections = [f"--       {port.name:{width}} => {port.name}" for port in own.ports]
    return "\n".join(
        [
            f"-- {own.name} as a component for VHDL; the module itself is Verilog.",
            "--",
            "-- In your architecture:",
            "--",
            f"--   use work.{own.name}_instance.all; -- above the architecture",
            "--",
            f"--   accelerator : component {own.name}",
            "--     port map (",
            ",\n".join(connections),
            "--     );",
            "",
            "library ieee;",
            "use ieee.std_logic_1164.all;",
            "",
            f"package {own.name}_instance is",
            "",
            f"  component {own.name} is",
            "    port (",
            ";\n".join(ports),
            "    );",
            "  end component;",
            "",
            "end package;",
            "",
        ]
    )


def _type(port: Port) -> str:
    return f"std_logic_vector({port.width - 1} downto 0)" if port.width > 1 else "std_logic"
