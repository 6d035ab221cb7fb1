"""Min-entropy of samples of a noise source, as SP 800-90B estimates it."""
