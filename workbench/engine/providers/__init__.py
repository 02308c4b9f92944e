"""Backends reached over the network or loaded from a model file; importing this loads none of them."""
