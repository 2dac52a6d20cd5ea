"""Pictures, sounds and videos as sources: what a file is, where it is kept, and who may see it."""
