"""The stores: what a memory is and how it changes, as planners that write nothing themselves.

A planner takes the files, a request, the settings and the present moment (aware, in the workspace's zone), and
returns a plan for history to carry out.
"""
