"""Ranks what the index finds for a question, and explains the rank of each result."""
