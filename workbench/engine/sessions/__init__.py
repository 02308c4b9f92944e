"""Sessions: their keys, store, locks and transcripts, when one ends, what a model is shown of it, and other programs'.

The modules are imported where they are needed: most commands need none of them.
"""
