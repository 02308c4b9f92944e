"""The one door to an agent's memory: open, read, mutate, recall."""
