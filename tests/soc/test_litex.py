"""An accelerator in a LiteX system: the same firmware, on LiteX's bus, memory and UART."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from coprime.catalog import choose
from coprime.flow.tool_errors import ToolError
from coprime.rsa import keys
from coprime.soc.decryption import JOB, SystemRun, definitions, encrypt, job, predicted_cycles
from coprime.soc.firmware import build_firmware, find_toolchain
from coprime.soc.riscv import MODULE_NAME
from coprime.soc.simulated_system import SimulatedSystem

SEED = 23
UART_FULL = 4
"""Offset of LiteX's register txfull."""

# LiteX's system with the ports of ours. The last frame of the UART is let out before the end.
SHELL = f"""
module {MODULE_NAME}(
  input clk, input rst, input run, input load, input [13:0] load_address, input [31:0] load_data,
  input [7:0] random,
  output tx, output trap, output fault
);
  litex_system system(.clk(clk), .rst(!run), .serial_rx(1'b1), .serial_tx(tx), .sim_trace(1'b0));
  reg [9:0] ended = 0;
  always @(posedge clk) begin
    if (load) system.main_ram[load_address] <= load_data;
    ended <= system.picorv32.trap && run ? ended + !trap : 0;
  end
  assign trap = &ended;
  assign fault = 0;
endmodule
"""


@pytest.mark.clients
def test_the_example_of_the_page_runs_as_it_is(tmp_path):
    """It makes a system with the accelerator at the address that it names."""
    pytest.importorskip("litex", reason="needs LiteX: pip install litex")
    page = Path(__file__).parents[2].joinpath("docs", "soc.md").read_text("utf-8")
    section = page.partition("\n## In a LiteX system\n")[2]
    example = section.partition("```python\n")[2].partition("```")[0]
    (tmp_path / "example.py").write_text(example)
    done = subprocess.run(
        [sys.executable, "example.py"], cwd=tmp_path, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    folder = tmp_path / "build" / "litex"
    assert "coprime_karatsuba coprime_karatsuba" in (folder / "system.v").read_text()
    assert (folder / "coprime_karatsuba.v").is_file()
    assert "0x90000000" in done.stderr + done.stdout


@pytest.mark.clients
@pytest.mark.parametrize(("family", "paddings"), [("fdfm", ()), ("karatsuba", ("oaep",))])
def test_decryption(tmp_path, family, paddings):
    pytest.importorskip("litex", reason="needs LiteX: pip install litex")
    try:
        toolchain = find_toolchain()
    except ToolError as error:
        pytest.skip(str(error))
    script = Path(__file__).with_name("litex_system.py")
    command = [sys.executable, script, family, tmp_path, *paddings]
    subprocess.run(command, check=True, capture_output=True)
    made = json.loads((tmp_path / "litex.json").read_text())
    design = (tmp_path / "litex.v").read_text()
    sources = [Path(source).read_text() for source in made["sources"]]
    assert len(sources) == 2  # processor and accelerator
    assert (
        ("s_axis_random_tdata" in design) == ("s_axis_random_tdata" in sources[1]) == bool(paddings)
    )

    key = keys.generate(512, seed=SEED)
    program = build_firmware(
        toolchain,
        definitions(
            uart=made["uart"],
            uart_full=made["uart"] + UART_FULL,
            accelerator=made["accelerator"],
            interrupt=made["interrupt"],
        ),
    )
    ciphertext = encrypt(key, "Hello from LiteX.")
    with SimulatedSystem("\n".join([SHELL, design, *sources])) as system:
        system.load(0, program)
        system.load(JOB, job(key, ciphertext, software=False))
        transcript = system.run(40_000_000)
        total = system.cycles
    choice = choose(family, {})
    predicted = predicted_cycles(choice.design, key, ciphertext)
    run = SystemRun(choice, key.bits, toolchain.version, transcript, total, predicted)
    assert run.messages == ["Hello from LiteX."]
    assert run.engine == run.predicted < run.accelerator
    # LiteX's PicoRV32 keeps a request that has ended: it may come once more.
    assert run.interrupts in (1, 2)


@pytest.mark.clients
def test_an_engine_of_byte_strings_has_its_random_stream():
    """In LiteX's system, where its calls draw inputs; LiteX itself is full of warnings."""
    script = (
        "from coprime.catalog import choose_calls as choose;"
        "from coprime.soc.litex import LiteXAccelerator as made;"
        "print(*(hasattr(made(choose(name, {})), 'random') for name in ('lattice', 'shake')))"
    )
    command = [sys.executable, "-W", "ignore", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False"]
