"""How entities and the relations between them are drawn: what is tied to what, where it stands, and its boxes and lines."""
