"""The Model Context Protocol: the engine's door as tools, resources and a prompt for agents.

No door that is made here leads to a decision on a reflection: there is no tool for it, and the role of the
workspace behind it may not decide.
"""
