"""The one door to an agent's memory: open, read, mutate, recall."""

from workbench.engine.workspace.door import Workspace

__all__ = ["Workspace"]
