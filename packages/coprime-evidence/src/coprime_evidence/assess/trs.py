"""Traces as a trace set of Riscure's Inspector (.trs), which most side-channel tools read."""

from pathlib import Path
from typing import Any

import numpy as np

from coprime.flow.files import replacing
from coprime.flow.tool_errors import not_installed

from .leakage import Leakage

_GROUPS = ("random", "fixed")  # titles of traces


def check_trs() -> None:
    """Raise ToolError, before long work, unless the library that writes them is there."""
    _library()


def write_trs(leakage: Leakage, path: Path) -> None:
    """Write the traces that were kept: their samples, and `INPUT`, and whether they are `FIXED`.

    Samples are whole numbers of 2 bytes, or with noise numbers of 4 bytes. Raises ToolError as
    `check_trs`, ValueError if none were kept, and OSError if the file cannot be written.
    """
    trsfile = _library()
    kept = leakage.kept
    if kept is None:
        raise ValueError("no traces were kept")
    exact = not leakage.acquisition.noise and int(kept.traces.max()) < 1 << 15
    coding = trsfile.SampleCoding.SHORT if exact else trsfile.SampleCoding.FLOAT
    header = trsfile.Header
    headers = {
        header.DESCRIPTION: leakage.acquisition.source.command_line,
        header.LABEL_X: "clock cycles",
        header.LABEL_Y: "bits",
        header.SCALE_X: 1.0,
        header.SCALE_Y: 1.0,
        header.TRACE_OFFSET: leakage.first_cycle,
        header.SAMPLE_CODING: coding,
        header.NUMBER_SAMPLES: kept.traces.shape[1],
    }
    with (
        replacing(path) as fresh,
        trsfile.trs_open(
            str(fresh), "w", engine="TrsEngine", headers=headers, live_update=False
        ) as traces,
    ):
        for samples, fixed, given in zip(kept.traces, kept.fixed, kept.inputs, strict=True):
            traces.append(
                trsfile.Trace(
                    coding,
                    samples.astype(np.int16 if exact else np.float32),
                    parameters=_parameters(fixed, given),
                    title=_GROUPS[int(fixed)],
                )
            )


def _parameters(fixed: np.bool_, given: np.ndarray) -> Any:
    from trsfile.parametermap import TraceParameterMap
    from trsfile.traceparameter import ByteArrayParameter

    return TraceParameterMap(
        {
            "INPUT": ByteArrayParameter(given.tobytes()),
            "FIXED": ByteArrayParameter(bytes([int(fixed)])),
        }
    )


def _library() -> Any:
    try:
        import trsfile
    except ImportError:
        raise not_installed("trsfile") from None
    return trsfile
