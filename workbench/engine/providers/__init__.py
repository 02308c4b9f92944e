"""Back ends that answer over a wire or from a model file; importing this loads none of them."""
