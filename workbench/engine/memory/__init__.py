"""What a memory is and how it changes: the stores, decay, and proposals."""
