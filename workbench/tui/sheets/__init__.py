"""Forms that open over whatever is shown: a new memory, bringing in, writing out."""
