import sys

import pytest

from coprime.catalog import choose
from coprime.flow.tool_errors import ToolError
from coprime.soc import riscv
from coprime.soc.riscv import System, system_verilog


@pytest.mark.parametrize("ram_bytes", [2048, 5000, 1 << 29])
def test_memory_size_is_checked(ram_bytes):
    with pytest.raises(ValueError, match=f"a power of two in 4096..2..28, not {ram_bytes}"):
        System("coprime_fdfm", ram_bytes=ram_bytes, divisor=4)


def test_verilog_is_whole():
    verilog = system_verilog(choose("fdfm", {"max_bits": "64"}), divisor=868)
    for module in (riscv.MODULE_NAME, "coprime_fdfm", "picorv32"):
        assert verilog.count(f"\nmodule {module}") - verilog.count(f"\nmodule {module}_") == 1


def test_without_a_processor(monkeypatch):
    monkeypatch.setitem(sys.modules, "pythondata_cpu_picorv32", None)
    with pytest.raises(ToolError, match=r"pip install 'coprime\[soc\]'"):
        riscv.find_processor()
