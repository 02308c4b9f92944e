"""Memory in the past: core, graph, scores and any memory as of a commit, and differences between two commits."""

from workbench.engine.past.past import Past

__all__ = ["Past"]
