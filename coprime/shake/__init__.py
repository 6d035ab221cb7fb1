"""SHA-3 and SHAKE as an engine of byte strings (FIPS 202)."""
