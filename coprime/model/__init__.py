"""The integer models: what each algorithm computes, step by step."""
