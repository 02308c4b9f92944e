"""Review: a proposal read back from its file, what a person decides on it, and what applying it does."""
