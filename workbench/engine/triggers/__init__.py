"""What a message asks of memory, and where a memory belongs (design document §8).

The names below are loaded when first used: most commands need none of them.
"""
