"""Builds a living sample: four months of one person's work with an agent, through the engine's doors."""
