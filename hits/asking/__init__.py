"""What campaigns ask of their workers: one module for each kind of task (`hits.task_kinds`)."""
