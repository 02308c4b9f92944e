"""Secrets: recognises keys, tokens and passwords in what is about to be stored, since the history remembers."""

from workbench.engine.secrets.added import added_secrets, text_of
from workbench.engine.secrets.recognising import LEFT_OUT, Secret, find_secrets, kinds, masked

__all__ = ["LEFT_OUT", "Secret", "added_secrets", "find_secrets", "kinds", "masked", "text_of"]
