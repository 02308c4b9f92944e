"""The parts that panes are made of; none of them knows what a memory is for."""
