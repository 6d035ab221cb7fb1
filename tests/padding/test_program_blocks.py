from coprime.padding.instructions import ADDRESS_BITS, encode
from coprime.padding.program_blocks import assemble
from coprime.padding.programs import PROGRAMS
from coprime.padding.tasks import Task


def test_all_programs_fit_the_program_memory():
    words, entries = assemble(PROGRAMS)
    assert len(words) <= 1 << ADDRESS_BITS
    assert entries[Task.PKCS1_ENCRYPT] == 0
    assert all(
        words[address] == encode(PROGRAMS[task][0], address) for task, address in entries.items()
    )
