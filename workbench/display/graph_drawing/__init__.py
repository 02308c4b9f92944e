"""How entities and their relations are drawn: pure functions of a view and the cells there are."""
