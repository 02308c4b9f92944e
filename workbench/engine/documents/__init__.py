"""The file formats of an agent's memory: lossless parse, edit and render, one module for each kind of file.

Every document has `parse(content, path)` that takes any bytes and never raises, `render()` that gives back
the very bytes, `problems` for parts that cannot be read, and edits that return a new document and change only
their lines.
"""
