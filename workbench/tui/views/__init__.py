"""Pure functions from what the engine answered and a small view state to lines on the screen."""
