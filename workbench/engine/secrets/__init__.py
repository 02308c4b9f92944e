"""Secrets: recognises keys, tokens and passwords in what is about to be stored, since the history remembers."""

from workbench.engine.secrets.added import added_secrets, text_of
from workbench.engine.secrets.masking import (
    Masked,
    mask_content,
    mask_of,
    mask_secrets,
    masked_lines,
    without_masked_lines,
)
from workbench.engine.secrets.recognising import LEFT_OUT, Secret, find_secrets, kinds, masked

__all__ = [
    "LEFT_OUT",
    "Masked",
    "Secret",
    "added_secrets",
    "find_secrets",
    "kinds",
    "mask_content",
    "mask_of",
    "mask_secrets",
    "masked",
    "masked_lines",
    "text_of",
    "without_masked_lines",
]
