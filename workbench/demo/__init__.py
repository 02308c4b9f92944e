"""Builds the sample workspace: four months of one person's work with an agent."""
