"""Write coprime/explore/assessed.json, which data sheets read, from records of `coprime assess`.

    python tools/assessed.py FILE...

Each file is what `--json` prints, or has such a record in each line. Records of faults with the
same design, size and kind are added up; of the others the last one counts. What the file has
already stays unless the same was assessed again: then the new figures replace it.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from coprime_evidence.assess.faults_summary import CONFIDENCE, upper_bound

from coprime.explore.assessed import SHIPPED, SIZES

Record = dict[str, Any]
_ADDED = ("flips", "wrong", "reveals")
_CALL = ("parameter_set", "refused_inputs")
"""Of a call instead of the bits of numbers."""
_POWER = ("operation", "bits", "test", "model", "noise", "traces")
_ORDER = ("order", "largest", "corrected_threshold", "above_corrected")


def read(path: Path) -> Iterator[Record]:
    """The records of a file."""
    text = path.read_text("utf-8")
    try:
        yield json.loads(text)
    except json.JSONDecodeError:
        for line in text.splitlines():
            if line.startswith("{"):
                yield json.loads(line)


def design_of(record: Record) -> Record:
    """What was assessed."""
    values = record["parameters"]
    return {
        "family": record["family"],
        "parameters": {name: value for name, value in values.items() if name not in SIZES},
        "sizes": {name: value for name, value in values.items() if name in SIZES},
    }


def rows_of(record: Record) -> Iterator[Record]:
    """The rows of one record: of faults one for each kind."""
    own = design_of(record)
    if "flips" in record:
        for kind, counts in record["kinds"].items():
            row = {"assessment": "faults", **own, "sizes": {}, "operation": record["operation"]}
            row |= {name: record[name] for name in ("bits", *_CALL) if name in record}
            row |= {"kind": kind, "seeds": {record["seed"]}}
            yield row | {name: counts[name] for name in _ADDED}
    elif "traces" in record:
        row = {"assessment": "power", **own, **{name: record[name] for name in _POWER}}
        yield row | {"orders": [{name: one[name] for name in _ORDER} for one in record["orders"]]}
    else:
        row = {"assessment": "constant time", **own}
        yield row | {"proved": record["proved"], "cycle": record["cycle"]}


def key_of(row: Record) -> str:
    """Equal for rows of which there shall be one."""
    of_runs = ("operation", "bits", *_CALL, "kind", "test", "model")
    names = ("assessment", "family", "parameters", *of_runs)
    return json.dumps([row.get(name) for name in names], sort_keys=True)


def main(paths: list[str]) -> None:
    """Read all, add up, write."""
    found: dict[str, Record] = {}
    for path in paths:
        for record in read(Path(path)):
            for row in rows_of(record):
                old = found.get(key_of(row))
                if old is not None and row["assessment"] == "faults":
                    row |= {name: old[name] + row[name] for name in _ADDED}
                    row["seeds"] |= old["seeds"]
                found[key_of(row)] = row
    for row in found.values():
        if row["assessment"] == "faults":
            row["seeds"] = len(row["seeds"])
            # Every second fault is drawn uniformly: all wrong ones against these is the safe side.
            row["upper_bound"] = upper_bound(row["wrong"], row["flips"] // 2)
            row["confidence"] = CONFIDENCE
    kept = {key_of(row): row for row in json.loads(SHIPPED.read_text("utf-8"))}
    rows = [row for _, row in sorted((kept | found).items())]
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    SHIPPED.write_text(f"[\n{lines}\n]\n" if rows else "[]\n", "utf-8")
    print(f"{SHIPPED}: {len(rows)} rows, {len(found)} of them from {len(paths)} files")


if __name__ == "__main__":
    main(sys.argv[1:])
