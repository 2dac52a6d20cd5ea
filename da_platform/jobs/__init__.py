"""Background jobs: a row per job, claimed once, finished once, swept up when a worker dies."""
