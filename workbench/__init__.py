"""Workbench: memory for AI agents that people can see, correct and trust."""

__version__ = "0.1.0"
