"""The panes of the bench: a list and a detail each, one grammar for all."""
