"""Send a file, or the part of it that a player asks for (RFC 9110, section 14)."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from django.http import FileResponse, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

CHUNK_BYTES = 64 * 1024
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})", re.ASCII)


def ranged_file(request: HttpRequest, path: Path, *, content_type: str) -> HttpResponseBase:
    """Return the file (200), one range of it (206), or say that it has no such range (416).

    A header that asks for several ranges, or is no valid range at all, is ignored, as is one that depends on a
    validator: the files have none.
    """
    size = path.stat().st_size
    asked = "" if "If-Range" in request.headers else request.headers.get("Range", "")
    match = _RANGE.fullmatch(asked.replace(" ", ""))
    response: HttpResponseBase
    if match is None or not any(match.groups()):
        response = FileResponse(path.open("rb"), content_type=content_type)
    elif (part := _part(match[1], match[2], size)) is None:
        response = HttpResponse(status=416, content_type=content_type)
        response["Content-Range"] = f"bytes */{size}"
    else:
        first, last = part
        response = StreamingHttpResponse(
            FilePart(path.open("rb"), first, last - first + 1),
            status=206,
            content_type=content_type,
        )
        response["Content-Range"] = f"bytes {first}-{last}/{size}"
        response["Content-Length"] = str(last - first + 1)
    response["Accept-Ranges"] = "bytes"
    # Shown in the page, never downloaded as a page of its own.
    response["Content-Disposition"] = "inline"
    response["Cross-Origin-Resource-Policy"] = "same-origin"
    response["X-Content-Type-Options"] = "nosniff"
    response["Cache-Control"] = "private, max-age=3600"
    return response


def _part(first: str, last: str, size: int) -> tuple[int, int] | None:
    """Return the first and the last byte of a range, or None if the file has none of it."""
    if not first:
        # The last bytes: as many as there are.
        n = min(int(last), size)
        return (size - n, size - 1) if n else None
    begin = int(first)
    end = min(int(last), size - 1) if last else size - 1
    if begin >= size or (last and int(last) < begin):
        return None
    return begin, end


class FilePart:
    """Reads a part of an open file in chunks. Django closes it with the response."""

    def __init__(self, file: BinaryIO, first: int, n_bytes: int) -> None:
        self._file, self._left = file, n_bytes
        file.seek(first)

    def __iter__(self) -> Iterator[bytes]:
        while self._left and (chunk := self._file.read(min(CHUNK_BYTES, self._left))):
            self._left -= len(chunk)
            yield chunk

    def close(self) -> None:
        self._file.close()
