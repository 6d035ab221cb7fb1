"""The slots and calls of `lattice`: ML-DSA, FIPS 204."""

from collections.abc import Sequence
from functools import cache
from random import Random

from coprime.calls.interface import Call, EngineInterface, Slot, Values
from coprime.model.lattice import ml_dsa as model
from coprime.model.lattice.ml_dsa_sets import HASH_BYTES, ML_DSA_SETS, SEED_BYTES, MlDsaSet

ML_DSA_VERIFY_CODE = 46
ML_DSA_BY_NAME = {one.name: one for one in ML_DSA_SETS}
_DRAWN_MESSAGE = 59
"""Bytes of a message that is drawn."""


def _slots(sets: Sequence[MlDsaSet]) -> tuple[Slot, ...]:
    pk, signature = (
        tuple(getattr(one, name) for one in sets) for name in ("pk_bytes", "signature_bytes")
    )
    return (
        Slot(0, "pk", "public key: rho, t1", pk, readable=True),
        Slot(1, "signature", "signature: c~, z, hints", signature, readable=True),
        Slot(2, "mu", "representative of a message, computed outside", (HASH_BYTES,)),
        Slot(3, "message", "message after its prefix and context (M')", (0,), streamed=True),
    )


@cache
def _signed(parameter_set: str, seed: bytes, message: bytes) -> tuple[bytes, bytes, bytes]:
    """A public key, mu and a signature."""
    one = ML_DSA_BY_NAME[parameter_set]
    pk, sk = model.key_pair(one, seed)
    mu = model.representative_for(pk, message)
    return pk, mu, model.sign(one, sk, mu).signature


def _draw_signed(parameter_set: str, random: Random) -> Values:
    seed, message = random.randbytes(SEED_BYTES), model.framed(random.randbytes(_DRAWN_MESSAGE))
    pk, mu, signature = _signed(parameter_set, seed, message)
    return {"pk": pk, "signature": signature, "mu": mu}


def _nothing(parameter_set: str, values: Values) -> Values:
    return {}


VERIFY = Call(
    *(ML_DSA_VERIFY_CODE, "ML_DSA_VERIFY", "whether a signature is that of mu, or of a message"),
    inputs=("pk", "signature"),
    outputs=(),
    draw=_draw_signed,
    reference=_nothing,
    if_complete=("mu", "message"),
    uses_up=frozenset({"mu"}),
)


@cache
def ml_dsa_interface(sets: tuple[MlDsaSet, ...], *, verify_only: bool) -> EngineInterface:
    """With these parameter sets; perhaps without private keys."""
    return EngineInterface(
        family="lattice",
        family_number=12,
        slots=_slots(sets),
        calls=(VERIFY,),
        parameter_sets=tuple(one.name for one in sets),
        program_counters=(*("sponge.sequencer.state", "arithmetic.sequencer.instruction_address"),),
    )
