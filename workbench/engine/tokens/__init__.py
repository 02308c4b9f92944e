"""Token counting: offline o200k_base counts for budgets."""
