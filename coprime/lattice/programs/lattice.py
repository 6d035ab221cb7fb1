"""The programs of an engine of one scheme, or of both."""

from functools import cache

from coprime.model.lattice.ml_dsa_sets import MlDsaSet
from coprime.model.lattice.ml_kem_sets import MlKemSet

from .ml_dsa import ml_dsa_programs
from .ml_kem import ml_kem_programs
from .programs import EnginePrograms


@cache
def lattice_programs(
    ml_kem: tuple[MlKemSet, ...],
    ml_dsa: tuple[MlDsaSet, ...],
    *,
    verify_only: bool,
    parallel: bool = False,
) -> EnginePrograms:
    """The programs for these parameter sets; of one scheme there may be none. `parallel` : of an
    engine with several lanes."""
    return EnginePrograms(
        ml_kem_programs(ml_kem, exchanges=parallel) if ml_kem else None,
        ml_dsa_programs(ml_dsa, verify_only=verify_only, parallel=parallel) if ml_dsa else None,
    )
