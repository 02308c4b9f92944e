"""Agents: who may do what, and what sub-agents propose."""

from workbench.engine.agents.roles import Capability, Role, parse_role, require

__all__ = ["Capability", "Role", "parse_role", "require"]
