"""Gold scores: loading ratings, building runs, ranking systems, reporting."""
