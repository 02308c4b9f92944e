"""Token budgets: how many o200k_base tokens a text takes, counted offline."""

from workbench.engine.tokens.counting import count_tokens

__all__ = ["count_tokens"]
