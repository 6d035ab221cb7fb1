"""What was assessed: the file that ships, and what a data sheet takes from it."""

import json

import pytest
from coprime_evidence.assess import moments

from coprime.catalog import CALL_FAMILIES, choose, choose_calls
from coprime.explore import assessed
from tools import assessed as tool

RECORDS = json.loads(assessed.SHIPPED.read_text("utf-8"))


@pytest.mark.parametrize("record", RECORDS, ids=lambda one: f"{one['assessment']}-{one['family']}")
def test_shipped(record):
    """Each row is of a design that there is, and that a data sheet finds."""
    values = {**record["parameters"], **record["sizes"]}
    of_calls = record["family"] in CALL_FAMILIES
    chosen = choose_calls if of_calls else choose
    choice = chosen(record["family"], {name: str(value) for name, value in values.items()})
    assert record["assessment"] in {one.assessment for one in assessed.find(choice)}
    if record["assessment"] == "constant time":
        known = choice.design.interface if of_calls else choice.design.capabilities
        assert record["proved"] >= known.constant_time


CAMPAIGN = {
    "family": "compact",
    "parameters": {"max_bits": 64, "blinding": "none"},
    "operation": "RSA_PRIVATE",
    "bits": 64,
    "seed": 1,
    "flips": 1000,
    "kinds": {"bit": {"flips": 1000, "wrong": 1, "reveals": 0}},
}
PROOF = {
    "family": "direct",
    "parameters": {"multipliers": 2, "modulus": "61"},
    "proved": True,
    "cycle": None,
}


def test_tool_adds_campaigns_up(tmp_path, monkeypatch, capsys):
    shipped = tmp_path / "assessed.json"
    shipped.write_text("[]")
    monkeypatch.setattr(tool, "SHIPPED", shipped)
    lines = [CAMPAIGN, {**CAMPAIGN, "seed": 2}, {**CAMPAIGN, "bits": 128}]
    (tmp_path / "lines.log").write_text("".join(f"{json.dumps(one)}\n" for one in lines))
    (tmp_path / "proof.json").write_text(json.dumps(PROOF, indent=2))
    tool.main([str(tmp_path / "lines.log"), str(tmp_path / "proof.json")])
    assert "3 rows" in capsys.readouterr().out
    rows = json.loads(shipped.read_text())
    (both,) = [row for row in rows if row.get("bits") == 64]
    assert (both["flips"], both["wrong"], both["seeds"]) == (2000, 2, 2)
    # Clopper and Pearson: the sum of the first three terms of the binomial distribution is 5 %.
    p, n = both["upper_bound"], 1000
    total = (1 - p) ** n + n * p * (1 - p) ** (n - 1)
    total += n * (n - 1) / 2 * p**2 * (1 - p) ** (n - 2)
    assert total == pytest.approx(0.05, rel=1e-3)
    (proof,) = [row for row in rows if row["assessment"] == "constant time"]
    assert (proof["parameters"], proof["sizes"]) == ({"multipliers": 2}, {"modulus": "61"})
    # Assessed again: the new figures replace the old ones, and nothing else.
    (tmp_path / "lines.log").write_text(json.dumps({**CAMPAIGN, "seed": 3}))
    tool.main([str(tmp_path / "lines.log")])
    rows = json.loads(shipped.read_text())
    assert sorted(row.get("flips", 0) for row in rows) == [0, 1000, 1000]


CALLS = {
    "family": "lattice",
    "parameters": {"slices": "8", "sets": "all", "secrets": "readable"},
    "operation": "ML_KEM_DECAPSULATE",
    "parameter_set": "ML-KEM-512",
    "refused_inputs": False,
    "seed": 1,
    "flips": 1000,
    "kinds": {"bit": {"flips": 1000, "wrong": 3, "reveals": 0}},
}


def test_campaigns_of_calls(tmp_path, monkeypatch):
    """Of each set, and of refused inputs, rows of their own, which data sheets have."""
    shipped = tmp_path / "assessed.json"
    shipped.write_text("[]")
    monkeypatch.setattr(tool, "SHIPPED", shipped)
    others = [{"seed": 2}, {"refused_inputs": True}, {"parameter_set": "ML-KEM-768"}]
    lines = [CALLS, *({**CALLS, **other} for other in others)]
    proof = {name: CALLS[name] for name in ("family", "parameters")}
    lines.append({**proof, "proved": True, "cycle": None})
    (tmp_path / "lines.log").write_text("".join(f"{json.dumps(one)}\n" for one in lines))
    tool.main([str(tmp_path / "lines.log")])
    rows = json.loads(shipped.read_text())
    assert [row["flips"] for row in rows if "flips" in row] == [2000, 1000, 1000]
    assessed._records.cache_clear()
    monkeypatch.setattr(assessed, "SHIPPED", shipped)
    found = assessed.find(choose_calls("lattice", {}))
    assessed._records.cache_clear()
    what = {one.what for one in found}
    assert what == {
        "the whole engine",
        "ML_KEM_DECAPSULATE, ML-KEM-512, kind: bit",
        "ML_KEM_DECAPSULATE, ML-KEM-768, kind: bit",
        "ML_KEM_DECAPSULATE, ML-KEM-512, inputs that are refused, kind: bit",
    }
    assert {one.result for one in found if one.assessment == "constant time"} == {"proved"}


def test_an_infinite_t_is_shown_as_such():
    """Not as the number that stands for it in JSON."""
    assert moments.MOST == assessed.MOST_T
    shown = [found.result for found in assessed.find(choose("compact", {"max_bits": "64"}))]
    assert any("order 2: largest |t| infinite, threshold" in one for one in shown)
    assert not any("1000000000" in one for one in shown)
