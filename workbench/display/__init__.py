"""Text for people: pure functions from an engine result and a page to lines."""
