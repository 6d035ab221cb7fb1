"""Expressions of Verilog, and where each may stand."""

from dataclasses import dataclass

# Where an expression may be used as it is. Verilog computes with the width of the whole context,
# and extends operands before it computes; each place asks for at least one of these.
WHOLE = 0  # only as a whole right-hand side: signed arithmetic
EXACT = 1  # where the context has the result's width
OWN = 2  # also where the expression alone sets the width: as part of a concatenation, as an index
WIDER = 3  # also where the context is wider and the result is extended by zeros


@dataclass(frozen=True)
class Expression:
    """The text of an expression, and what may be done with it."""

    text: str
    operator: str = ""  # the outermost one; none for names, numbers, and what is in brackets
    use: int = WIDER

    def inside(self, operator: str) -> str:
        """The text as an operand of `operator`."""
        same = operator == self.operator and operator in ("&", "|", "^")
        inverse = self.operator == "!" and operator not in PREFIXES
        return self.text if same or inverse or not self.operator else f"({self.text})"


PREFIXES = ("!", "~")
ARITHMETIC = {"$add": "+", "$sub": "-", "$mul": "*", "$divfloor": "/", "$modfloor": "%"}
BITWISE = {"$and": "&", "$or": "|", "$xor": "^"}
COMPARISONS = {"$eq": "==", "$ne": "!=", "$lt": "<", "$le": "<=", "$gt": ">", "$ge": ">="}
REDUCTIONS = {"$reduce_and": "&", "$reduce_or": "|", "$reduce_bool": "|", "$reduce_xor": "^"}
SHIFTS = {"$shl": "<<", "$shr": ">>", "$shift": ">>", "$sshr": ">>>"}
UNARY = {"$not": "~", "$neg": "-"}
LOW_BITS = {"$add", "$sub", "$mul", *BITWISE, *UNARY}
"""Operators whose lowest bits depend on the lowest bits of their operands only."""
OPERATORS = {"$mux", *ARITHMETIC, *BITWISE, *COMPARISONS, *REDUCTIONS, *SHIFTS, *UNARY}
