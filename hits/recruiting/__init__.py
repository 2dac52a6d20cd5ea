"""How workers arrive and are sent back, whichever provider they come from."""
