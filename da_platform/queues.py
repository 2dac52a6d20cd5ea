"""The names of the queues."""

# Tasks that take seconds and that others wait for: evidence, chores.
QUICK = "quick"
# Jobs, which may take hours and so have their own worker.
JOBS = "jobs"
QUEUES = (QUICK, JOBS)
