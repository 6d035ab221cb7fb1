"""Where the programs of ML-DSA begin; without hardware."""

VERIFY, MU_OF_PK = "VERIFY", "MU_OF_PK"
