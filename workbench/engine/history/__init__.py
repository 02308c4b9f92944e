"""Owns the one way to change a workspace: transactions, and the git history behind them."""
