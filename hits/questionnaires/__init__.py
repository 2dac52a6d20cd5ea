"""Questions about workers themselves, before or after the task: what is asked, answering, counting."""
