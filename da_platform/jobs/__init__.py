"""Background jobs: one row per job, claimed once, finished once, restarted when a worker dies."""
