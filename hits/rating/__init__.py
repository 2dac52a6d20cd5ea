"""From taking a HIT to submitting it: places, ratings, and what the browser gets."""
