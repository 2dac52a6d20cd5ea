"""Reading, checking and storing the scores of metrics, and gold made elsewhere."""
