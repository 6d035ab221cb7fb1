"""The engine: operand memory, sequencer and the operations that all families share."""
