"""How entities and their relations are drawn: what is tied to what, where it stands, its boxes and its lines."""
