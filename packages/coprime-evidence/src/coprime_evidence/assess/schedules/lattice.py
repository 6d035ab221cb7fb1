"""The schedules of `lattice`: what the datapath of each scheme computes, for all polynomials."""

from dataclasses import astuple

from coprime.lattice.arithmetic.datapath import Datapath
from coprime.lattice.arithmetic.large_datapath import LargeDatapath
from coprime.lattice.arithmetic.parallel_datapath import ParallelDatapath
from coprime.lattice.arithmetic.parallel_large_datapath import ParallelLargeDatapath
from coprime.lattice.design import LatticeDesign

from .lattice_ml_dsa import prove_ml_dsa
from .lattice_ml_kem import prove_ml_kem
from .theorem import ScheduleProof

FAMILY = "lattice"


def statement(design: LatticeDesign) -> str:
    """What is proved of an engine."""
    schemes = [
        *(["FIPS 203, modulo 3329"] if design.ml_kem else []),
        *(["FIPS 204, modulo 8380417"] if design.ml_dsa else []),
    ]
    return f"the transforms, their inverses, products and sums of {', and of '.join(schemes)}"


def prove(design: LatticeDesign) -> ScheduleProof:
    """Prove every case of each scheme's datapath; ProofError with what does not hold."""
    shared = bool(design.ml_kem and design.ml_dsa)
    proofs = []
    if design.ml_kem:
        small = Datapath(shares_slice=shared) if design.dsp == 1 else ParallelDatapath(design.dsp)
        proofs.append(prove_ml_kem(small))
    if design.programs.ml_dsa is not None:
        regions, verify_only = design.programs.ml_dsa.arithmetic.regions, design.verify_only
        large = (
            LargeDatapath(regions, verify_only=verify_only, shares_slice=shared)
            if design.dsp == 1
            else ParallelLargeDatapath(regions, design.dsp, verify_only=verify_only)
        )
        proofs.append(prove_ml_dsa(large, design.programs.memory_words))
    return ScheduleProof(*(sum(figures) for figures in zip(*map(astuple, proofs), strict=True)))
