"""A client for the DA Platform's API, built from the API's own description. It needs only httpx, and pandas for tables."""

from .client import ApiError, Campaign, Client, JobFailed, Record, TooOften
from .frames import read_export

__all__ = ["ApiError", "Campaign", "Client", "JobFailed", "Record", "TooOften", "read_export"]
