"""RSA in software beside the hardware: OpenSSL on one core, through `cryptography`.

`SHIPPED` was measured on the machine that it names, with `python -m coprime.explore.openssl`.
"""

import json
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from cryptography.hazmat.backends.openssl import backend
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding

from coprime.package.figures import SoftwareFigures
from coprime.rsa.keys import library_key

from .standard_keys import standard_key

LENGTHS = (1024, 2048, 3072, 4096, 8192)  # bits; shorter keys OpenSSL's users cannot make any more
_SECONDS = 1.0


@dataclass(frozen=True)
class SoftwareRun:
    """Figures of software, with how they were found."""

    figures: Sequence[SoftwareFigures]
    found: str  # version and processor


def measure() -> SoftwareRun:
    """Measure on this machine: a quarter of a minute. Processor time counts, of one core."""
    return SoftwareRun([_measured(bits) for bits in LENGTHS], _found())


def shipped() -> SoftwareRun:
    """What was measured when this version was made."""
    record = json.loads(Path(__file__).with_name("openssl.json").read_text("utf-8"))
    return SoftwareRun(
        [SoftwareFigures(**figures) for figures in record["figures"]], record["found"]
    )


def _measured(bits: int) -> SoftwareFigures:
    own = standard_key(bits)
    assert own is not None
    key = library_key(own)
    scheme, digest, message = padding.PKCS1v15(), hashes.SHA256(), b"measured"
    signature = key.sign(message, scheme, digest)
    public = key.public_key()
    return SoftwareFigures(
        bits=bits,
        private_per_second=_rate(lambda: key.sign(message, scheme, digest)),
        public_per_second=_rate(lambda: public.verify(signature, message, scheme, digest)),
    )


def _rate(operation: Callable[[], object]) -> float:
    """Operations in a second of processor time."""
    operation()
    count, start = 0, time.process_time()
    while (passed := time.process_time() - start) < _SECONDS:
        operation()
        count += 1
    return round(count / passed, 1)


def _found() -> str:
    version = " ".join(backend.openssl_version_text().split()[:2])
    return f"{version}, one core of {_processor()}"


def _processor() -> str:
    """The processor's name, as the system has it."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())


if __name__ == "__main__":
    print(json.dumps(asdict(measure()), indent=2))
