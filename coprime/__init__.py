"""Coprime: a generator of public-key coprocessors.

The names that most programs need, loaded on first use so that `import coprime` is fast; their types
are in `__init__.pyi`.
"""

from importlib import import_module

_OFFERED = {
    "Accelerator": "coprime.device.accelerator",
    "CoprimeError": "coprime.errors",
    "FAMILIES": "coprime.catalog",
    "choose": "coprime.catalog",
    "family_named": "coprime.catalog",
    "open_simulation": "coprime.device.simulated",
}
"""Each name, and the module that has it."""

__all__ = ["__version__", *_OFFERED]

__version__ = "0.2.0"


def __getattr__(name: str) -> object:
    if name not in _OFFERED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(_OFFERED[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
