"""Drawing primitives: a canvas of cells, and what is drawn on it; pure functions of what is shown and how big."""
