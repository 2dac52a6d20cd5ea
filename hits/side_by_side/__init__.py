"""Rating several outputs of a segment on one screen, a slider for each."""
