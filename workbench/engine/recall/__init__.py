"""Recall: finding memories by what they say and mean, and noticing when their files change."""

from workbench.engine.recall.watcher import Watcher

__all__ = ["Watcher"]
