"""`coprime list`."""

from tests.cli.command import run, run_json


def test_list(capsys):
    (fdfm,) = [one for one in run_json(capsys, "list") if one["name"] == "fdfm"]
    assert fdfm["paper"] == "FDFM"
    assert fdfm["operations"] == ["MODMUL", "MODEXP", "RSA_PUBLIC", "RSA_PRIVATE"]
    assert fdfm["parameters"][0]["name"] == "max_bits"
    (named,) = (one for one in fdfm["parameters"] if one["name"] == "exponentiator")
    assert (named["type"], named["default"]) == ("choice", "left-to-right")
    assert named["choices"][:2] == ["left-to-right", "right-to-left"]
    assert "minimum" not in named
    status, out, _ = run(capsys, "list")
    assert status == 0
    assert "max_bits" in out
    assert "repeated, default left-to-right)" in out


def test_list_one_family(capsys):
    (ring,) = run_json(capsys, "list", "ring")
    assert ring["name"] == "ring"
    status, out, _ = run(capsys, "list", "cluster")
    assert status == 0
    assert out.startswith("cluster ") and "fdfm  (" not in out
