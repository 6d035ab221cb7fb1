"""The kinds of buses by name."""

import enum


class Bus(enum.Enum):
    """The bus of an accelerator, or of a cluster. The registers are the same on each."""

    AXI4_LITE = "axi4-lite"  # one register an access
    AXI4 = "axi4"  # bursts of up to 256 registers, and IDs

    @property
    def title(self) -> str:
        """Its name in text."""
        return {Bus.AXI4_LITE: "AXI4-Lite", Bus.AXI4: "AXI4"}[self]
