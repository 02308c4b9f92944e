"""Token budgets: how many o200k_base tokens a text takes, counted offline."""
