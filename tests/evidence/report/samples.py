"""Points with made-up figures."""

import itertools

from coprime_evidence.papers.published import Derived

from coprime.explore.points import Point

SIZES = (64, 256, 1024)
HOSTILE = "</script><img src=x onerror=alert(1)>"


def point(family, bits, number, target="ecp5", **other):
    """A point with figures that differ from all others; larger numbers are larger and faster."""
    scale = (bits / 64) ** 2
    lut = 300 + 250 * number + bits // 16
    cycles = int(4000 * scale / number)
    routed = target == "ecp5"
    fmax = 120.0 + number if routed else None
    milliseconds = cycles / fmax / 1000 if routed else None
    gates = target == "unit-gate"
    figures = {
        "family": family,
        "paper": "FDFM" if family == "fdfm" else "",
        "parameters": {"max_bits": bits, "width": number},
        "bits": bits,
        "operation": "RSA_PRIVATE",
        "exponents": "worst",
        "seed": 1,
        "target": target,
        "device": None if gates else f"a device of {target}",
        "part": "engine",
        "lut": None if gates else lut,
        "lutram": None if gates else 0,
        "ff": 200,
        "carry": None if gates else 10,
        "dsp": None if gates else number,
        "bram": None if gates else 0.5,
        "slices_estimate": None if gates else lut // 4,
        "fmax_mhz": fmax,
        "gate_area": 9000.0 + number if gates else None,
        "gate_delay": 40.0 if gates else None,
        "cycles": cycles,
        "predicted_cycles": cycles,
        "utilization": 0.9,
        "milliseconds": milliseconds,
        "area_time": lut * milliseconds if routed else None,
        "status": "ok",
        "tools": {"yosys": "1.0"},
        "command": f"coprime build {family} -p max_bits={bits} --target {target} -o DIR",
        "verilog": "0123456789abcdef",
        "key": "",
    }
    return Point(**figures | other)


def sample_points():
    """Two families with three designs each, on three targets; and some of other kinds."""
    points = [
        point(family, bits, number + (family == "karatsuba") * 3, target)
        for family, bits, number, target in itertools.product(
            ("fdfm", "karatsuba"), SIZES, (1, 2, 3), ("ecp5", "xc7", "unit-gate")
        )
    ]
    slow = point("fdfm", 64, 1, cycles=9000, milliseconds=9000 / 121 / 1000)  # larger and slower
    points.append(slow)
    points.append(point("fdfm", 64, 2, operation="MODMUL", exponents="random", seed=7))
    none = dict.fromkeys(("lut", "cycles", "predicted_cycles", "milliseconds", "fmax_mhz"))
    points.append(point("fdfm", 4096, 1, status="failed", reason=HOSTILE, **none))
    return points


def points_beside(tables):
    """A point for each source of these tables, with made-up figures that differ from all others.

    Sources that name the same design of a target share a point.
    """
    found = {}
    for table in tables:
        for row in table.rows:
            for source in itertools.chain(*row.here.values()):
                for one in () if isinstance(source, Derived) else getattr(source, "of", (source,)):
                    made = _beside(one, len(found))
                    known = (made.family, made.settings, made.bits, made.operation, made.part)
                    known += (
                        made.target,
                        made.device,
                        made.exponents,
                        made.cores,
                        made.node,
                        made.bus,
                    )
                    found.setdefault(known, made)
    return list(found.values())


def _beside(source, number):
    target = source.target or "xc7"
    device = source.device or (f"a device of {target}" if target != "unit-gate" else None)
    routed = target == "ecp5"
    lut, cycles = 200 + 30 * source.bits + number, source.bits * (source.bits + 40) + number
    fmax = 100.0 + number % 50 if routed else None
    milliseconds = cycles / fmax / 1000 if routed else None
    return point(
        *(source.family, source.bits, 1, target),
        parameters=dict(source.parameters),
        operation=source.operation,
        exponents=source.exponents or "random",
        device=device,
        part=source.part,
        cores=source.cores,
        node=source.node,
        bus=source.bus,
        software_cycles=60 * cycles if source.part == "system" else None,
        lut=lut,
        slices_estimate=lut // 4,
        fmax_mhz=fmax,
        cycles=cycles,
        predicted_cycles=cycles,
        milliseconds=milliseconds,
        area_time=lut * milliseconds if routed else None,
        gate_area=60.0 * source.bits**2 if target == "unit-gate" else None,
        gate_delay=20.0 + source.bits if target == "unit-gate" else None,
    )
