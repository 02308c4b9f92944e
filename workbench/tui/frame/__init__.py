"""The screen that stays: places, lines at its edges, reading and acting."""
