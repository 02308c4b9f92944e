"""The process that maintains one workspace: it adopts edits, indexes, keeps scores and reflects on schedule."""
