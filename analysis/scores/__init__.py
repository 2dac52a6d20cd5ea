"""Read, check and store the scores of metrics, and gold from files."""
