"""What must hold in every cycle of the multiplier of `ring`, seen at its components' ports."""

from collections import deque
from contextlib import ExitStack, contextmanager
from unittest import mock

from coprime.multipliers.ring import multiplier

SUM_FLAGS = (
    *("ends_old", "ends_new", "turns", "last_old"),
    *("before", "nothing_before", "makes_diagonal"),
)


@contextmanager
def watched():
    """Multipliers that are elaborated within have watches; their list."""
    watches, parts = [], {}

    def keeping(name):
        component = getattr(multiplier, name)

        def build(*arguments, **options):
            parts[name] = component(*arguments, **options)
            return parts[name]

        return mock.patch.object(multiplier, name, build)

    with ExitStack() as patches:
        for name in ("Products", "RingSchedule", "TwinSchedule", "OperandRings", "Results"):
            patches.enter_context(keeping(name))
        yield watches
    schedule = parts.get("RingSchedule") or parts["TwinSchedule"]
    watches.append(SumsWatch(parts["Results"].sums))
    if parts["OperandRings"].in_block_ram:
        watches.append(OperandsWatch(parts["OperandRings"], schedule, parts["Products"].under_way))


class SumsWatch:
    """S, carries and running sums as integers of any size; asserts that each fits its register.

    They are what `RingColumnSums` describes, from the tiles' sums and the slots' flags alone:
    nothing is cut off, and no register's cycle matters but those of its docstring.
    """

    def __init__(self, sums):
        self.sums = sums
        self.columns = 0
        self._late = None
        self._word = None
        self._carry = {"old": 0, "new": 0}
        self._before = self._diagonal = None
        self._joined, self._joining = [0], deque()
        self._leaving = deque()

    def step(self, context):
        """Look at a cycle, before its clock edge; where sums are skewed, at the one before it."""
        bits, slot = self.sums.bits, self.sums.slot
        flag = {name: context.get(getattr(slot, name)) for name in SUM_FLAGS}
        flag["clears"] = context.get(self.sums.clear) or context.get(self.sums.wipe)
        tiles, word = sum(context.get(one) for one in self.sums.sums), context.get(self.sums.word)
        if self.sums.skewed:
            lower = (1 << self.sums.width) - 1
            before, self._late = self._late, (flag, tiles & lower, word)
            if before is None:
                return
            flag, low, word = before
            tiles = tiles & ~lower | low
        if self._word is not None:
            assert word == self._word, "word of a column"
        self._word = None
        self._join()
        if flag["ends_new"]:
            self._word = self._end("new", self._joined[-1] + tiles)
        if flag["ends_old"] and self._leaving:  # there may be no old product
            self._word = self._end("old", self._leaving.popleft() + tiles)
        if flag["nothing_before"]:
            self._before = 0
        if flag["before"]:
            self._before = tiles
        if flag["makes_diagonal"]:
            self._joining.append([2, tiles - self._before])
        if flag["turns"]:
            self._turn()
        if flag["clears"]:
            self._carry["new"], self._joined = 0, [0]
            self._joining.clear()
        assert 0 <= self._joined[-1] < 1 << bits.running, "range of RS"

    def _join(self):
        """Add e_k to RS, behind column k: two cycles after its last product is in the sum."""
        for one in self._joining:
            one[0] -= 1
        while self._joining and self._joining[0][0] < 0:
            self._joined.append(self._joined[-1] + self._joining.popleft()[1])

    def _end(self, product, added):
        bits, total = self.sums.bits, self._carry[product] + added
        assert 0 <= total < 1 << bits.total, "range of S"
        self._carry[product] = total >> self.sums.width
        assert self._carry[product] < 1 << bits.carry, "range of the carry"
        self.columns += 1
        return total & (1 << self.sums.width) - 1

    def _turn(self):
        """Let the new product be the old one: RS of column D + k is R_(D-1) - R_k."""
        while self._joining:
            self._joining[0][0] = 0
            self._join()
        last = self._joined[-1]
        self._leaving = deque(last - one for one in self._joined[1:])
        assert all(0 <= one < 1 << self.sums.bits.running for one in self._leaving), "RS leaving"
        self._carry["old"], self._carry["new"], self._joined = self._carry["new"], 0, [0]


class OperandsWatch:
    """Asserts that no word of a ring is read in the cycle of its write: a block RAM gives either.

    A word that is written once more may be read; and words may be whose product nobody needs. A
    memory of LUTs gives the old word; of rings that are in LUTs nothing is asserted.
    """

    def __init__(self, operands, schedule, under_way):
        self.operands = operands
        self.schedule = schedule
        self.under_way = under_way
        self.reads = 0
        self._words = {}

    def step(self, context):
        """Look at a cycle, before its clock edge."""
        operands = self.operands
        replaced = {}
        for ring in "xyqm":
            write = getattr(operands, ring)
            if context.get(write.enable):
                replaced[ring, context.get(write.place)] = context.get(write.word)
        replaced = {key: word for key, word in replaced.items() if self._words.get(key) != word}
        read = self._read(context)
        assert not read & replaced.keys(), "read as they are written"
        self.reads += len(read)
        self._words |= replaced

    def _read(self, context):
        """Rings and places of the words that needed products have."""
        operands, read = self.operands, set()
        for product, of_step in zip(operands.products, self.schedule.products, strict=True):
            under_way = self.under_way
            exists = under_way.old_exists if context.get(of_step.of_old) else under_way.new_exists
            needed = context.get(exists)
            pair = needed and context.get(product.pair)
            diagonal = needed and context.get(product.diagonal)
            if not (pair or diagonal or context.get(product.crossed)):
                continue
            of_q = context.get(product.of_q) or product is not operands.products[0]
            left, right = "qm" if of_q else "xy"
            i, j = context.get(product.i), context.get(product.j)
            read |= {(left, i), (right, j)} | ({(left, j), (right, i)} if pair else set())
        return {(ring, place) for ring, place in read if ring in operands.in_block_ram}
