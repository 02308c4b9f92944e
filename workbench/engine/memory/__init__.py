"""Memories and how they change: the stores, decay, and proposals.

Planners read the files through `view` or a draft. Moments are aware and in the workspace's zone, entities are named by
their id `type--slug`, and a scope of None is the owner's own.
"""
