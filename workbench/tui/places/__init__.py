"""What the main area shows: views of one memory, each in a module of this room."""
