"""The names of the queues, for those who send, those who work and those who look on."""

# What takes seconds and what others wait for: evidence, chores.
QUICK = "quick"
# What may take hours, so that a worker of their own can take them.
JOBS = "jobs"
QUEUES = (QUICK, JOBS)
