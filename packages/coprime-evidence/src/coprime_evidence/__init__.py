"""Evidence for designs of Coprime: what they cost, what attackers learn, what papers report.

- `assess`: faults, power, timing and schedules, in simulation and as proofs
- `sweeps`: many designs, measured the same way
- `papers`: published figures as data
- `report`: a page of what was measured, beside the papers' figures
- `cli`: the commands `coprime assess`, `coprime sweep` and `coprime report`

The package `coprime` imports nothing of it, and has its commands by an entry point.
"""

__version__ = "0.2.0"
