"""NIST's vectors through the hardware."""

import pytest

from coprime.random.mechanism import DrbgMechanism
from coprime.random.programs import DrbgTask
from tests.combinational import Bench
from tests.random.cavp import CASES, RESEEDED

SUPPORTED = [case for case in CASES if case.supported]


class Script:
    """Inputs of the hardware, cycle by cycle, and where the output of each case is."""

    def __init__(self, drbg):
        self.drbg, self.starts = drbg, {}
        place = 0
        for name, member in drbg.signature.members.items():
            if member.flow.name == "In":
                self.starts[name] = place
                place += len(getattr(drbg, name))
        self.rows, self.ends = [], []

    def put(self, times=1, **values):
        row = sum(int(value) << self.starts[name] for name, value in values.items())
        self.rows += [row] * times

    def run(self, task, *, seeded=False, material=b"", count=1):
        words = [material[k : k + 4] for k in range(0, len(material), 4)]
        for index, word in enumerate(words):
            self.put(load=1, load_index=index, load_word=int.from_bytes(word))
        held = {"seeded": seeded, "material_words": len(words), "count": count}
        self.put(task=task, start=1, **held)
        self.put(DrbgMechanism.cycles(task, seeded=seeded, material_words=len(words)), **held)

    def case(self, case):
        self.run(DrbgTask.SEED, material=case.material)
        count = 1
        requests = case.again if len(case.again) == 2 else (*case.again, None)
        for again in requests:
            if again is not None:
                self.run(DrbgTask.SEED, seeded=True, material=again)
                count = 1
            self.run(DrbgTask.GENERATE, count=count)
            count += 1
        for index in range(len(case.output)):
            self.put(output_index=index)
        self.put()
        self.ends.append(len(self.rows))


def tried(cases):
    """How many cases have the right output."""
    drbg = DrbgMechanism()
    script = Script(drbg)
    for case in cases:
        script.case(case)
    (rows,) = Bench([drbg], slices=None, latencies=[1]).run(script.rows)
    place = 0
    for name, member in drbg.signature.members.items():
        if name == "output":
            break
        if member.flow.name == "Out":
            place += len(getattr(drbg, name))
    for case, end in zip(cases, script.ends, strict=True):
        found = bytes(row >> place & 0xFF for row in rows[end - 1 - len(case.output) : end - 1])
        assert found == case.output
    return len(cases)


@pytest.mark.vectors
def test_outputs_are_nist_s():
    """Without reseeding, and with prediction resistance; with additional inputs of reseeding."""
    assert tried([*SUPPORTED, *RESEEDED]) == 481
