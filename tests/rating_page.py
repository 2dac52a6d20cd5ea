"""Read the rating page without a browser."""

import json
from typing import Any

# Any token will do if cookie and header are the same.
CSRF_TOKEN = "t" * 32
_ITEMS_START = '<script id="items" type="application/json">'


def items_on(page: str) -> dict[int, dict[str, Any]]:
    """The items in the page, by position."""
    window = page.partition(_ITEMS_START)[2].partition("</script>")[0]
    return {item["position"]: item for item in json.loads(window)}
