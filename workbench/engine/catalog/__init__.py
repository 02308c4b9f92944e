"""The catalog: a derived view of every memory file, in SQLite outside the workspace."""
