"""Ranks what the index finds for a question, and can say why each result stands where it does."""
