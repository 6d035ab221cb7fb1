import re

import pytest

from coprime.cli import main


def test_build_tells_its_paddings(tmp_path):
    command = ["build", "fdfm", "-p", "max_bits=576", "--padding", "pss, pkcs1"]
    assert main([*command, "-o", str(tmp_path)]) == 0
    verilog = (tmp_path / "coprime_fdfm.v").read_text()
    assert re.search(r"// Made by: .* --padding pkcs1,pss -o DIR\n", verilog)
    assert "s_axis_random_tready" in verilog


@pytest.mark.parametrize(
    ("command", "text"),
    [
        (
            "build fdfm --padding rot13 -o x",
            "a padding must be one of pkcs1, oaep, pss, not 'rot13'",
        ),
        ("build cluster --padding pss -o x", "a cluster has no padding in hardware"),
        ("run cluster MODEXP --bits 64 --padding pss", "a cluster has no padding in hardware"),
        (
            "build fdfm -p max_bits=64 --padding pss -o x",
            "padding in hardware needs max_bits of 65 to 65280, not 64",
        ),
        (
            "synth fdfm --padding pss --target xc7",
            "only the accelerator has paddings, not the engine",
        ),
    ],
)
def test_what_cannot_be_is_refused(command, text, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(command.split()) == 2
    assert text in capsys.readouterr().err
