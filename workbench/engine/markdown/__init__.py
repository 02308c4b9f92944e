"""The formats of memory files, parsed and written without loss."""
