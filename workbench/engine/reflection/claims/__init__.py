"""Claims: finds, without any model, which statements replace one another and which contradict each other."""

from workbench.engine.reflection.claims.finder import find_conflicts

__all__ = ["find_conflicts"]
