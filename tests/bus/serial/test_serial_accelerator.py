import pytest

from coprime.bus.serial.serial_accelerator import SerialAccelerator
from coprime.catalog import choose
from coprime.cells.target import Target


def test_an_engine_that_draws_is_refused():
    choice = choose("compact", {"max_bits": "512", "blinding": "all"})
    with pytest.raises(ValueError, match="no source of random bytes"):
        SerialAccelerator(choice.design.hardware(Target.GENERIC), 4)
