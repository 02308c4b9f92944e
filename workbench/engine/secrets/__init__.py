"""Recognises keys, tokens and passwords before they are stored: history never forgets."""
