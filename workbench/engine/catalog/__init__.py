"""The catalog: a derived SQLite view of every memory file, stored outside the workspace."""
