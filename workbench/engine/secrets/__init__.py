"""Secrets: recognises keys, tokens and passwords in what is about to be stored, since the history remembers."""
