"""Memory as it was: core, graph, scores and any memory as a commit held them, and what differs between two."""

from workbench.engine.past.past import Past

__all__ = ["Past"]
