"""Memory in the past: core, graph, scores and any memory as of a commit, and differences between two commits."""
