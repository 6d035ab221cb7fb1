"""WIPE: the front end's and the sequencer's own command, which computes nothing."""

from .encodings.modular import Modular
from .operation import Operation

WIPE = Operation(
    name="WIPE",
    code=5,
    doc="Overwrite every word of the operand memory with zero.",
    encoding_of=Modular,
    wipes=True,
)
