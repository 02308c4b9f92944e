"""The settings, the origin of each value, and who may set it."""
