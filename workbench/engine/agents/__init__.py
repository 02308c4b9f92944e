"""Agents: who may do what, and what sub-agents propose."""

from workbench.engine.agents.roles import Capability, Role, parse_role, require, require_by_hand

__all__ = ["Capability", "Role", "parse_role", "require", "require_by_hand"]
