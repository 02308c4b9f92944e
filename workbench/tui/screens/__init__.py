"""What comes up over a pane and goes away again: help, a question, one memory."""
