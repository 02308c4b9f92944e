"""What keys mean, everywhere the same."""
