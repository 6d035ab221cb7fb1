"""The demonstration: a real key on a generated accelerator, checked by another library."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from coprime.catalog import FAMILIES
from coprime.cells.target import Target
from coprime.device.accelerator import Accelerator, Result
from coprime.device.base import Device
from coprime.device.jobs import Predict
from coprime.device.simulated import SimulatedDevice, open_simulation
from coprime.rsa import keys, operations
from coprime.rsa.padding import Oaep, Pss
from coprime.runs.numbers import random_key_lengths

from .measure import PartToMap

FAMILY = "compact"  # of the accelerator
MESSAGE = b"Coprime: computed on one DSP slice, in constant time."


MIN_BITS = 8 * (len(MESSAGE) + 2 * 32 + 2)  # OAEP with SHA-256 adds two hashes and two bytes


class _Recorder(Accelerator):
    """An accelerator that remembers the results of its private operations."""

    def __init__(self, device: Device, predict: Predict):
        super().__init__(device, predict=predict)
        self.results: list[Result] = []

    def private(self, x: int) -> Result:
        """As of Accelerator."""
        self.results.append(super().private(x))
        return self.results[-1]


def demonstrate(
    key: keys.RsaPrivateKey | None, bits: int, *, progress: Callable[[int], None] | None = None
) -> bool:
    """Decrypt a ciphertext that `cryptography` made, sign a message that it verifies, and print it.

    Without a key, one of `bits` bits is made. The accelerator's length follows the key. Returns
    whether everything was right. Raises ValueError for a key that is too short for the message's
    padding, or longer than the family takes.
    """
    length = bits if key is None else key.bits
    if length < MIN_BITS:
        raise ValueError(f"the demonstration needs a key of {MIN_BITS} bits or more, not {length}")
    lengths = random_key_lengths(bits) if key is None else key.lengths
    choice = FAMILIES[FAMILY].choose({}, lengths, others=FAMILIES.values())
    design = choice.design
    if key is None:
        print(f"Making an RSA-{bits} key ...")
        key = keys.generate(bits)
    oaep = padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), None)
    ciphertext = _library_key(key).encrypt(MESSAGE, oaep)

    print(f"Building {FAMILY}: Amaranth -> Verilog -> Verilator, and Yosys next to it ...")
    started = time.perf_counter()
    source = PartToMap(choice, "accelerator", Target.XC7)
    _ = source.verilog  # Amaranth is not for two threads: only Yosys runs in the other one
    with ThreadPoolExecutor(max_workers=1) as pool:
        mapping = pool.submit(copy_context().run, source.map)
        device = open_simulation(choice)
        print(f"  {time.perf_counter() - started:.1f} s")
        right = _use(device, design.predict, key, ciphertext, progress)
        area = mapping.result()
    print(
        f"  area        {area.lut:,} LUTs, {area.ff:,} flip-flops, {area.dsp} DSP48E1,"
        f" {area.bram:g} RAMB36E1 ({area.device}), with registers and bus"
    )
    return right


def _use(
    device: SimulatedDevice,
    predict: Predict,
    key: keys.RsaPrivateKey,
    ciphertext: bytes,
    progress: Callable[[int], None] | None,
) -> bool:
    """Decrypt and sign on the device, which it closes; whether everything was right."""
    public = _library_key(key)
    with device:
        device.progress = progress
        accelerator = _Recorder(device, predict)
        started, before = time.perf_counter(), device.cycles
        decrypted = operations.decrypt(accelerator, key, ciphertext, Oaep())
        signature = operations.sign(accelerator, key, MESSAGE, Pss())
        seconds, clock = time.perf_counter() - started, device.cycles - before
    pss = padding.PSS(padding.MGF1(hashes.SHA256()), hashes.SHA256.digest_size)
    try:
        public.verify(signature, MESSAGE, pss, hashes.SHA256())
        verified = True
    except InvalidSignature:
        verified = False
    right = decrypted == MESSAGE and verified
    print(f"Encrypted by `cryptography` (OAEP), decrypted here: {decrypted.decode()}")
    print(f"Signed here (PSS), verified by `cryptography`: {'valid' if verified else 'INVALID'}")
    for what, result in zip(("decryption", "signature"), accelerator.results, strict=True):
        exact = result.cycles == result.predicted_cycles
        right = right and exact
        print(
            f"  {what:10}  {result.cycles:>11,} cycles"
            f" ({'as predicted' if exact else f'PREDICTED {result.predicted_cycles:,}'}),"
            f" multiplier at work in {result.utilization:.1%}"
        )
    print(f"  simulation  {clock / seconds / 1e6:>11.1f} million cycles a second")
    return right


def _library_key(key: keys.RsaPrivateKey) -> rsa.RSAPublicKey:
    """The public key as `cryptography` has it."""
    public = serialization.load_pem_public_key(keys.public_pem(key.public))
    assert isinstance(public, rsa.RSAPublicKey)
    return public
