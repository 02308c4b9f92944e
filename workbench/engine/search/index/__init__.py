"""The search index: chunks of memories with their terms and vectors, in SQLite outside the workspace."""
