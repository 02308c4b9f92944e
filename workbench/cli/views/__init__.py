"""What people read: pure functions from an answer of the engine and a page to lines of text."""
