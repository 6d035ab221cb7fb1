import pytest

from coprime.padding.addressing import AddressingTwin
from coprime.padding.control import ControlTwin
from coprime.padding.instructions import Base, ByteStepKind
from coprime.padding.program_blocks import END, bound, loop, skip, when
from coprime.padding.tasks import Option


@pytest.mark.parametrize("label", [False, True])
def test_conditions_and_loops(label):
    """Which steps are executed, and their cycles without bytes."""
    marks = [bound(Base.ZERO, k) for k in range(4)]
    program = [
        marks[0],
        *when(Option.LABEL, [marks[1]], [marks[2], marks[2]]),
        *skip(Option.SALT, True, [marks[3]]),
        *loop([marks[0]], 3),
        END,
    ]
    twin = ControlTwin(program, frozenset({Option.LABEL} if label else ()))
    addressing = AddressingTwin(1024, 0, 0)
    found = []
    for step in twin.steps():
        if step in marks:
            found.append(marks.index(step))
        if step.kind is ByteStepKind.LOOP:
            twin.jump(step, addressing.repeat(step))
        addressing.execute(step)
    assert found == [0, *([1] if label else [2, 2]), 3, 0, 0, 0]
    others = 2 + 1 + 3 + 1  # conditions, the other condition, loop, end
    assert twin.cycles == 3 * (len(found) + others)
