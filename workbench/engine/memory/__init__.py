"""Memories and how they change: the stores, decay, and proposals."""
