"""Transactions on a workspace, and the git history behind them. Everything that changes memory goes through here."""
