"""Recall: finding memories by what they say and mean, and noticing when their files change."""
