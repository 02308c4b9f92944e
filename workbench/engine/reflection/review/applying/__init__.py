"""What one approved item does to the files: a planner for each thing that an item can ask."""
