"""How workers arrive and are sent back, for every provider."""
