"""The deterministic mind: a cycle of reflection without any model, every phase a pure function."""

from workbench.engine.reflection.rules.mind import RulesMind

__all__ = ["RulesMind"]
