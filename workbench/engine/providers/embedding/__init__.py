"""Embedders: what turns texts into vectors. Importing this loads no model and no library."""
