"""Export to Verilog: the same text for the same component, on every machine and every day."""

import hashlib
import re
from collections.abc import Mapping

from amaranth.lib import wiring
from readable_verilog import convert

from .long_work import long_work

_PREFIX = "coprime_"
_COMMENT = re.compile(r"\s*//.*")
_LICENSE = "SPDX-License-Identifier: Apache-2.0"


@long_work("generating the Verilog")
def to_verilog(
    component: wiring.Component,
    name: str,
    *,
    header: str = "",
    ports: Mapping[str, str] | None = None,
) -> str:
    """Convert `component` to text that is Verilog-2005 and SystemVerilog.

    Parameters
    ----------
    component, ports : as for `readable_verilog.convert`
    name (str): name of the top module: "coprime_" and lower-case letters, digits, underscores. A
        submodule `x` is called `name`_x, and so on downwards.
    header (str): text that becomes a comment above the modules, after the license

    Raises TypeError or ValueError for another name, and NotImplementedError for what no design of
    ours contains (`readable_verilog.convert` lists it).
    """
    if isinstance(name, str) and not re.fullmatch(_PREFIX + "[a-z0-9_]+", name):
        raise ValueError(
            f"name must be '{_PREFIX}' and lower-case letters, digits or underscores, not {name!r}"
        )
    return convert(component, name, header=f"{_LICENSE}\n{header}", ports=ports)


def digest_of(verilog: str) -> str:
    """16 hexadecimal digits of a hash of a text of `to_verilog`, without its comments.

    Of the same digest is the same hardware: figures of the one are figures of the other.
    """
    return hashlib.sha256(_COMMENT.sub("", verilog).encode()).hexdigest()[:16]
