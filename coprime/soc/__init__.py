"""Whole circuits around an engine or an accelerator."""
