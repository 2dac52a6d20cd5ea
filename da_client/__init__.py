"""A client for the DA Platform's API, built from the API's own description. It needs only httpx."""

from .client import ApiError, Client, JobFailed, Record, TooOften

__all__ = ["ApiError", "Client", "JobFailed", "Record", "TooOften"]
