"""Decay: how relevant each memory is, how that sinks with time, and what keeps it up."""
