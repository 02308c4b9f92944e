"""Sessions: keys, store, locks, transcripts, resets, model context, and those of other programs.

Import its modules only where needed: most commands need none.
"""
