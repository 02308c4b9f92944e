"""At how many columns the bench is laid out otherwise."""

ONE_LINE = 80
"""From here on list and card are both shown."""
BESIDE = 110
"""From here on they stand side by side, and the rail beside them."""
EVIDENCE = 170
"""From here on the evidence stands beside the card."""
