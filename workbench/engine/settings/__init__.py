"""What can be set, where each value came from, and the rule who may set it."""
