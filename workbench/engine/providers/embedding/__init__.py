"""Embedders, which turn texts into vectors. Importing this loads no model and no library."""
