"""The register map, the bus front ends and the accelerator as users see it."""
