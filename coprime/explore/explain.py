"""Why a design is what it is.

For one modulus: the multiples that it may work modulo, and the tree. For a budget of DSP slices:
the designs within it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from coprime.catalog import Choice, Family
from coprime.cells.compression import product_plan
from coprime.cells.compressor_tree import Plan
from coprime.engine.budget import Candidate
from coprime.fixed_modulus.arithmetic import FixedModulus, Method
from coprime.fixed_modulus.fixed_design import FixedModulusDesign
from coprime.model.compression import modulus_form
from coprime.model.moduli import MODULI
from coprime.model.pseudo_moduli import EXHAUSTIVE_BITS, Search, product_estimate
from coprime.operations.lengths import Lengths

PLANNED_BITS = 128  # modulus up to which the tree is planned, too: in about two seconds


@dataclass(frozen=True)
class Explanation:
    """The multiples that were looked at, what was chosen, and its compressor tree."""

    arithmetic: FixedModulus

    @property
    def search(self) -> Search:
        """Multiples of the modulus, the best first."""
        return self.arithmetic.search

    @property
    def factor(self) -> int:
        """c of the multiple that products are taken modulo."""
        return self.arithmetic.multiple // self.arithmetic.modulus

    @cached_property
    def plan(self) -> Plan | None:
        """The tree of a product; None for a modulus over PLANNED_BITS."""
        if self.arithmetic.bits > PLANNED_BITS:
            return None
        return product_plan(self.arithmetic.multiple)

    @property
    def tree(self) -> str:
        """One sentence of it."""
        if self.plan is None:
            return f"The tree is planned here up to {PLANNED_BITS} bits only."
        kinds = ", ".join(f"{count:,} {name}" for name, count in self.plan.counters_by_kind)
        tree = (
            f'{kinds} in {self.plan.depth} levels, folded "{self.plan.folding.value}"'
            if kinds
            else "no counters"
        )
        return (
            f"The tree: {tree}; with the last adder about {self.plan.area:,} unit gates, and a"
            f" delay of {self.plan.delay}."
        )

    @property
    def text(self) -> str:
        """All of it, in lines."""
        m = self.arithmetic.modulus
        lines = [f"m = {m:#x}, {m.bit_length()} bits, form {modulus_form(m).kind.value}"]
        lines += [
            f"It is {modulus.name} ({modulus.origin})."
            for modulus in MODULI.values()
            if modulus.value == m
        ]
        lines.append(self.search.explanation)
        if self.search.extra_bits < EXHAUSTIVE_BITS:
            lines.append(f"-p extra_bits= looks at longer ones, of up to {EXHAUSTIVE_BITS} more.")
        if self.factor != self.search.best.factor:
            lines.append(f"Chosen by -p factor: {self.factor} * m.")
        lines.append(f"{'c':>8}  {'bits':>5}  {'area':>12}  {'delay':>5}  c * m")
        lines += [
            f"{candidate.factor:>8}  {candidate.value.bit_length():>5}"
            f"  {candidate.estimate.area:>12,}  {candidate.estimate.delay:>5}  {candidate.text}"
            for candidate in self.search.candidates
        ]
        return "\n".join([*lines, self.tree])

    def record(self) -> dict[str, object]:
        """The same as JSON has it; numbers of the modulus's size in hex."""
        plan = self.plan
        return {
            "modulus": f"{self.arithmetic.modulus:x}",
            "form": modulus_form(self.arithmetic.modulus).kind.value,
            "factor": self.factor,
            "multiple": f"{self.arithmetic.multiple:x}",
            "explanation": self.search.explanation,
            "candidates": [
                {
                    "factor": candidate.factor,
                    "multiple": f"{candidate.value:x}",
                    "form": modulus_form(candidate.value).kind.value,
                    "area": candidate.estimate.area,
                    "delay": candidate.estimate.delay,
                }
                for candidate in self.search.candidates
            ],
            "tree": None
            if plan is None
            else {
                "counters": dict(plan.counters_by_kind),
                "levels": plan.depth,
                "folding": plan.folding.value,
                "area": plan.area,
                "delay": plan.delay,
            },
        }


@dataclass(frozen=True)
class BudgetExplanation:
    """The designs within a budget of DSP slices."""

    family: Family
    picks: Sequence[str]
    """Names of the parameters that the budget stands for."""
    candidates: Sequence[Candidate]
    """The designs, the fastest first, which is the one that is picked."""

    @property
    def text(self) -> str:
        """A line for each design."""
        first = self.candidates[0]
        others = ", ".join(f"{k}={v}" for k, v in first.values.items() if k not in self.picks)
        lines = [
            f"{self.family.name} with {others}: the first is picked; cycles are those of"
            " RSA_PRIVATE, as predicted",
            f"{'cycles':>15}  {'DSP slices':>10}  parameters",
        ]
        for candidate in self.candidates:
            chosen = " ".join(f"{name}={candidate.values[name]}" for name in self.picks)
            lines.append(f"{candidate.cycles:>15,}  {candidate.slices:>10}  {chosen}")
        return "\n".join(lines)

    def record(self) -> dict[str, object]:
        """The same as JSON has it."""
        return {
            "family": self.family.name,
            "candidates": [
                {
                    "parameters": dict(candidate.values),
                    "dsp": candidate.slices,
                    "predicted_cycles": candidate.cycles,
                }
                for candidate in self.candidates
            ],
        }


def explain_budget(
    family: Family, settings: Mapping[str, str], lengths: Lengths | None = None
) -> BudgetExplanation:
    """The designs that a budget in `settings` picks from. Raises ValueError as `Family.choose`."""
    candidates = family.within_budget(settings, lengths)
    assert family.budget is not None
    return BudgetExplanation(family, family.budget.parameter.picks, candidates)


def _tree_arithmetic(choice: Choice) -> FixedModulus | None:
    """The arithmetic of a design of a compressor tree; None for any other."""
    design = choice.design
    if isinstance(design, FixedModulusDesign) and design.arithmetic.method is Method.COMPRESSION:
        return design.arithmetic
    return None


def tree_gates(choice: Choice) -> int:
    """About how many unit gates of compressor trees must be placed for an engine's products."""
    arithmetic = _tree_arithmetic(choice)
    if arithmetic is None:
        return 0
    return product_estimate(arithmetic.multiple).area * choice.design.capabilities.multipliers


def explain(choice: Choice) -> Explanation:
    """Explain a design for one modulus, of a compressor tree; ValueError for any other."""
    arithmetic = _tree_arithmetic(choice)
    if arithmetic is None:
        what = (
            "leaves its product to synthesis: --explain is about the tree of compression"
            if isinstance(choice.design, FixedModulusDesign)
            else "works with any modulus"
        )
        raise ValueError(f"{choice.family.name} {what}")
    return Explanation(arithmetic)
