"""The bench: a terminal app in which a person sees, corrects and trusts an agent's memory."""
