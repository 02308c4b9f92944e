"""The programs that agents run in: how each is configured, and what Workbench puts in and takes out again."""
