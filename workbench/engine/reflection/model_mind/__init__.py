"""The mind that asks a chat model: phase by phase, checked item by item, with rules to fall back on."""

from workbench.engine.reflection.model_mind.mind import ModelMind

__all__ = ["ModelMind"]
