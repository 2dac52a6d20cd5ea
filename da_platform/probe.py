"""Check whether a server on this machine is alive or ready, for container and service managers.

    python -m da_platform.probe http://127.0.0.1:8000/readyz

Exits with 0 if the response was 200.
"""

import sys
from http.client import HTTPConnection, HTTPException
from urllib.parse import urlsplit

TIMEOUT_SECONDS = 3


def main(url: str) -> int:
    parts = urlsplit(url)
    connection = HTTPConnection(parts.hostname or "", parts.port, timeout=TIMEOUT_SECONDS)
    try:
        connection.request("GET", parts.path)
        status = connection.getresponse().status
    except (OSError, HTTPException) as error:
        print(f"No response: {error}", file=sys.stderr)
        return 1
    finally:
        connection.close()
    return 0 if status == 200 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
