"""A verdict on each paper: what of its figures is measured here, and how ours compare."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from coprime_evidence.papers.published import Paper, Table
from coprime_evidence.report.side_by_side import Comparison, Counterpart

_HIGHER_IS_BETTER = {"MHz", "kbit/s", "sign/s", "verif/s"}  # units
_HIGHER_NAMES = {"Speed-up", "Utilization"}  # and quantities
_BLOCKS = ("DSP", "RAM", "MULT18", "Memory")  # in names of quantities
_KINDS = ("simulated", "predicted", "mapped", "routed", "unit gates", "computed")
CYCLES, AREA, CLOCK, TIME = "cycles", "area", "period", "time"
BLOCKS = "DSP slices and block RAMs"
GATES, PRODUCT = "unit gates", "area × time"
SUBJECTS = (CYCLES, AREA, BLOCKS, CLOCK, TIME, PRODUCT, GATES)
"""What is compared, in the order of a verdict. All are costs: the less, the better."""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """One of our figures as a cost, over the published one."""

    subject: str  # one of SUBJECTS
    ratio: float  # ours over theirs; for rates and frequencies theirs over ours
    table: Table
    line: Comparison
    own: Counterpart

    @property
    def is_worse(self) -> bool:
        """Whether ours costs more, as far as two decimals show."""
        return round(self.ratio, 2) > 1

    @property
    def name(self) -> str:
        """The published figure's."""
        return ", ".join((self.table.number, self.line.row, self.line.quantity))

    @property
    def place(self) -> str:
        """Where ours was measured; of a clock its device."""
        if self.subject == CYCLES:
            return "predicted" if "predicted" in self.own.kind else "simulated"
        if self.subject in (CLOCK, TIME):
            return " and ".join(self.own.devices) or self.own.where
        return self.own.where


@dataclass(frozen=True, kw_only=True)
class Summary:
    """Costs of one subject that were measured in one place."""

    subject: str
    where: str  # Cost.place
    costs: Sequence[Cost]

    @property
    def place(self) -> str:
        """Where ours was measured, and of clocks the paper's devices."""
        devices = _joined_devices(self.costs) if self.subject in (CLOCK, TIME) else ""
        return f"{self.where}; theirs {devices}" if devices else self.where

    @property
    def worse(self) -> int:
        """In how many ours is worse."""
        return sum(cost.is_worse for cost in self.costs)

    @property
    def most(self) -> Cost:
        """The one in which ours compares worst."""
        return max(self.costs, key=lambda cost: cost.ratio)


def _joined_devices(costs: Sequence[Cost]) -> str:
    devices = dict.fromkeys(cost.table.device.partition(" (")[0] for cost in costs)
    return ", ".join(filter(None, devices))


@dataclass(frozen=True, kw_only=True)
class Count:
    """How many of a paper's figures there are, each in one of the counts after `published`."""

    published: int
    measured: int  # ours is next to it
    missing: int  # it can be measured; these results have no such point
    derived: int  # it has none of ours, but follows from the paper's other figures
    reasoned: int  # it has neither, and says why
    bare: int  # it has neither, and does not say why
    kinds: Mapping[str, int]
    """Of those measured, by what a counterpart rests on: "simulated", "mapped", ..."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What the report says of a paper before all else."""

    paper: Paper
    count: Count
    costs: Sequence[Cost]

    @property
    def sentences(self) -> Sequence[str]:
        """How much is measured; ours over theirs; where ours is worse."""
        ratios = [_ranges(self.rows), _worse(self.costs)] if self.costs else []
        return [_counted(self.count), *ratios]

    @property
    def rows(self) -> Sequence[Summary]:
        """The costs by subject and place."""
        groups: dict[tuple[str, str], list[Cost]] = {}
        for cost in sorted(self.costs, key=lambda cost: SUBJECTS.index(cost.subject)):
            groups.setdefault((cost.subject, cost.place), []).append(cost)
        return [
            Summary(subject=subject, where=where, costs=costs)
            for (subject, where), costs in groups.items()
        ]


def judge(paper: Paper, compared: Iterable[tuple[Table, Sequence[Comparison]]]) -> Verdict:
    """The verdict on a paper, from the comparisons of its tables."""
    pairs = [(table, line) for table, lines in compared for line in lines]
    return Verdict(
        paper=paper,
        count=_count([line for _, line in pairs]),
        costs=[cost for table, line in pairs for cost in _costs(table, line)],
    )


# --- Figures ------------------------------------------------------------------------------------


def _count(lines: Sequence[Comparison]) -> Count:
    states = Counter(_state(line) for line in lines)
    kinds = Counter(
        kind
        for line in lines
        for kind in {
            kind
            for own in line.measurements
            if own.value is not None
            for kind in own.kind.split(", ")
        }
    )
    return Count(
        published=len(lines),
        **{state: states[state] for state in ("measured", "missing", "derived", "reasoned")},
        bare=states["bare"],
        kinds={kind: kinds[kind] for kind in _KINDS if kinds[kind]},
    )


def _state(line: Comparison) -> str:
    if any(own.value is not None for own in line.measurements):
        return "measured"
    if line.measurements:
        return "missing"
    if line.derived:
        return "derived"
    return "reasoned" if line.reason else "bare"


def _costs(table: Table, line: Comparison) -> Iterator[Cost]:
    for own in line.measurements:
        subject = _subject(line, own)
        if subject is not None and own.ratio:
            ratio = 1 / own.ratio if _is_rate(line) else own.ratio
            yield Cost(subject=subject, ratio=ratio, table=table, line=line, own=own)


def _is_rate(line: Comparison) -> bool:
    return line.unit in _HIGHER_IS_BETTER or line.quantity in _HIGHER_NAMES


def _subject(line: Comparison, counterpart: Counterpart) -> str | None:
    """What a figure of ours is about; None if it is no cost: a number of digits, a modulus."""
    kinds = {*counterpart.kind.split(", ")}
    counted = kinds & {"simulated", "predicted"}
    if "computed" in kinds:
        return None
    if "unit gates" in kinds:
        return GATES
    if "mapped" in kinds:
        if kinds != {"mapped"}:
            return PRODUCT
        is_logic = not any(word in line.quantity for word in _BLOCKS)
        return AREA if is_logic else BLOCKS
    if "routed" in kinds:
        return TIME if counted else CLOCK
    return CYCLES


# --- Words --------------------------------------------------------------------------------------


def _counted(count: Count) -> str:
    """How many figures are published, measured, derived, and why others are not."""
    kinds = ", ".join(f"{number:,} {kind}" for kind, number in count.kinds.items())
    parts = [f"{count.measured:,} with ours next to it{f' ({kinds})' if kinds else ''}"]
    for number, what in (
        (count.missing, "that can be measured and are not in these results"),
        (count.derived, "that follow from the paper's other figures alone"),
        (count.reasoned, "without a counterpart, each with the reason"),
        (count.bare, "without a counterpart"),
    ):
        if number:
            parts.append(f"{number:,} {what}")
    return f"{count.published:,} published figures: {_joined(parts)}."


def _joined(parts: Sequence[str]) -> str:
    *most, last = parts
    return f"{', '.join(most)} and {last}" if most else last


def _ranges(rows: Sequence[Summary]) -> str:
    """Ours over theirs by subject, with the place if there is one."""
    parts = []
    for subject in SUBJECTS:
        chosen_rows = [row for row in rows if row.subject == subject]
        if chosen_rows:
            place = (
                chosen_rows[0].place
                if len(chosen_rows) == 1
                else f"in {len(chosen_rows)} places, see the table"
            )
            parts.append(
                f"{subject} {spread([cost for row in chosen_rows for cost in row.costs])} ({place})"
            )
    return f"Ours over theirs: {'; '.join(parts)}."


def _worse(costs: Sequence[Cost]) -> str:
    """Where ours costs more, and most."""
    worse = [cost for cost in costs if cost.is_worse]
    if not worse:
        return f"Ours is worse in none of {len(costs):,} comparisons."
    parts = []
    for subject in SUBJECTS:
        own = [cost for cost in worse if cost.subject == subject]
        if own:
            most = max(own, key=lambda cost: cost.ratio)
            every = sum(cost.subject == subject for cost in costs)
            parts.append(
                f"{subject} in {len(own):,} of {every:,}, at most {spread([most])} ({most.name})"
            )
    return f"Ours is worse in {len(worse):,} of {len(costs):,} comparisons: {'; '.join(parts)}."


def spread(costs: Sequence[Cost]) -> str:
    """The least and the greatest ratio, such as "× 0.88 to 0.97", which is not broken after ×."""
    ratios = [cost.ratio for cost in costs]
    low, high = (
        f"{end:,.2f}" if end >= 0.1 else f"{end:.2g}" for end in (min(ratios), max(ratios))
    )
    return f"×\u00a0{low}" if low == high else f"×\u00a0{low} to {high}"
