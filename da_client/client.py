"""The client: a connection with all calls."""

from .campaigns import CampaignCalls
from .connection import ApiError, JobFailed
from .payments import PaymentCalls
from .people import PeopleCalls
from .results import ResultCalls
from .workers import WorkerCalls

__all__ = ["ApiError", "Client", "JobFailed"]


class Client(CampaignCalls, WorkerCalls, PaymentCalls, ResultCalls, PeopleCalls):
    """A connection to a platform.

    Parameters
    ----------
    address : str
        Such as `https://da.example.org`.
    token : str
        Made on the platform under API tokens.
    timeout : float
        Seconds that one call may take.

    Examples
    --------
    >>> with Client("http://localhost:8000", token) as da:  # doctest: +SKIP
    ...     campaign = da.campaigns()[0]
    ...     job = da.wait(da.build_gold(campaign.code))
    """
