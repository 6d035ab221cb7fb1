"""The records of boards.toml, whose keys are the boards' names."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

RECORDS: Mapping[str, Mapping[str, Any]] = tomllib.loads(
    (Path(__file__).parent / "boards.toml").read_text("utf-8")
)
