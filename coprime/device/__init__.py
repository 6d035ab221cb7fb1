"""What a driver sees of an accelerator: registers and an interrupt, simulated or real."""
