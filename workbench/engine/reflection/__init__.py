"""Reflection: what has been remembered becomes what is known, as a proposal on which a person decides (§10)."""
