"""The program of each task."""

from . import oaep, pkcs1, pss
from .instructions import ByteStep
from .program_blocks import END
from .tasks import Task

PROGRAMS: dict[Task, tuple[ByteStep, ...]] = {
    task: (*steps(), END)
    for task, steps in (
        (Task.PKCS1_ENCRYPT, pkcs1.encrypt),
        (Task.PKCS1_DECRYPT, pkcs1.decrypt),
        (Task.OAEP_ENCRYPT, oaep.encrypt),
        (Task.OAEP_DECRYPT, oaep.decrypt),
        (Task.PKCS1_SIGN, pkcs1.sign),
        (Task.PKCS1_VERIFY, pkcs1.verify),
        (Task.PSS_SIGN, pss.sign),
        (Task.PSS_VERIFY, pss.verify),
    )
}
"""Each task's steps."""
