"""Proposals: what agents that may not write ask to be remembered, and the verdicts on it (design document §13)."""
