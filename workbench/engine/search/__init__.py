"""Recall: search over memories, and notification when their files change."""
