"""Rating translations in their documents: composing HITs of runs, saving, what the browser gets."""
