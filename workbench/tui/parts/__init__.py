"""What places are composed of: list, card, evidence and single lines."""
