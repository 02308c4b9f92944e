"""What keys act on, kind by kind, and what is done to it."""
