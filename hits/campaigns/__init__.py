"""Create, edit, price and monitor campaigns."""
