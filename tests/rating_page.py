"""What whoever rates over HTTP, without a browser, has to know of the rating page."""

import json
from typing import Any

# Any token does, as long as cookie and header agree.
CSRF_TOKEN = "t" * 32
_ITEMS_START = '<script id="items" type="application/json">'


def items_on(page: str) -> dict[int, dict[str, Any]]:
    """The items that came with the page, by position."""
    window = page.partition(_ITEMS_START)[2].partition("</script>")[0]
    return {item["position"]: item for item in json.loads(window)}
