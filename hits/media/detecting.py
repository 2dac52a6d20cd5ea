"""What an uploaded file is, by its first bytes and not by its name, and whether it can be shown to workers."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

MEGABYTE = 1_000_000
# Of each kind of file: workers may be on a phone.
MAX_BYTES = {
    "image": 10 * MEGABYTE,
    "audio": 50 * MEGABYTE,
    "video": 100 * MEGABYTE,
    "captions": MEGABYTE,
}
PLAYED = "PNG, JPEG, GIF, WebP; MP3, WAV, Ogg, FLAC, M4A; MP4, WebM"
# Enough to find the codecs of a file.
HEAD_BYTES = 65_536

_TIMING = re.compile(
    r"(?:\d{2,}:)?[0-5]\d:[0-5]\d\.\d{3}[ \t]+-->[ \t]+(?:\d{2,}:)?[0-5]\d:[0-5]\d\.\d{3}(?:[ \t].*)?"
)


@dataclass(frozen=True, slots=True)
class FileType:
    kind: str
    content_type: str


def _is_mp3(head: bytes) -> bool:
    return head.startswith(b"ID3") or (
        # A frame's sync bits, layer III.
        len(head) > 1 and head[0] == 0xFF and head[1] & 0xE6 == 0xE2
    )


def _riff(name: bytes) -> Callable[[bytes], bool]:
    return lambda head: head[:4] == b"RIFF" and head[8:12] == name


def _starts(*beginnings: bytes) -> Callable[[bytes], bool]:
    return lambda head: head.startswith(beginnings)


# The major brands of MP4 videos. Pictures (avif, heic), QuickTime and 3GP files begin in the same way.
_MP4_BRANDS = tuple(b"isom iso2 iso4 iso5 iso6 mp41 mp42 avc1 M4V  M4VH dash cmfc MSNV".split())


def _mp4(*brands: bytes) -> Callable[[bytes], bool]:
    # The box of the type, with its major brand of four bytes: ISO/IEC 14496-12, 4.3.
    return lambda head: (
        head[4:8] == b"ftyp" and head[8:12].ljust(4) in {brand.ljust(4) for brand in brands}
    )


def _is_matroska(head: bytes) -> bool:
    return head.startswith(b"\x1a\x45\xdf\xa3") and b"webm" in head[:64]


_HAS_PICTURES = (b"V_VP8", b"V_VP9", b"V_AV1")
# In this order: the first that fits.
_TYPES: tuple[tuple[Callable[[bytes], bool], FileType], ...] = (
    (_starts(b"\x89PNG\r\n\x1a\n"), FileType("image", "image/png")),
    (_starts(b"\xff\xd8\xff"), FileType("image", "image/jpeg")),
    (_starts(b"GIF87a", b"GIF89a"), FileType("image", "image/gif")),
    (_riff(b"WEBP"), FileType("image", "image/webp")),
    (_riff(b"WAVE"), FileType("audio", "audio/wav")),
    (_starts(b"fLaC"), FileType("audio", "audio/flac")),
    (
        lambda head: head.startswith(b"OggS") and b"theora" not in head,
        FileType("audio", "audio/ogg"),
    ),
    (_mp4(b"M4A ", b"M4B "), FileType("audio", "audio/mp4")),
    (_mp4(*_MP4_BRANDS), FileType("video", "video/mp4")),
    (
        lambda head: _is_matroska(head) and any(codec in head for codec in _HAS_PICTURES),
        FileType("video", "video/webm"),
    ),
    (_is_matroska, FileType("audio", "audio/webm")),
    (_is_mp3, FileType("audio", "audio/mpeg")),
)


def type_of(head: bytes) -> FileType | None:
    """Return what a file is that begins like this; None if browsers do not play it."""
    return next((found for fits, found in _TYPES if fits(head)), None)


def check_media(path: Path) -> FileType | str:
    """Return what the file is, or why it cannot be a source."""
    with path.open("rb") as file:
        found = type_of(file.read(HEAD_BYTES))
    if found is None:
        return f"is not a picture, sound or video that browsers play ({PLAYED})"
    return _fault_in_size(path, found.kind) or found


def check_captions(path: Path) -> FileType | str:
    """Return the type of captions, or why the file is not WebVTT."""
    if fault := _fault_in_size(path, "captions"):
        return fault
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return f"is not UTF-8 at byte {error.start:,}"
    lines = text.replace("\r\n", "\n").split("\n")
    if not re.fullmatch(r"WEBVTT(?:[ \t].*)?", lines[0]):
        return "is not WebVTT: its first line must be WEBVTT"
    for number, line in enumerate(lines, start=1):
        if "-->" in line and not _TIMING.fullmatch(line.strip()):
            return f"has a wrong time on line {number}; write 00:01.000 --> 00:02.500"
    return FileType("captions", "text/vtt; charset=utf-8")


def _fault_in_size(path: Path, kind: str) -> str:
    n_bytes, most = path.stat().st_size, MAX_BYTES[kind]
    return f"has {n_bytes:,} bytes; {kind} files may have {most:,}" if n_bytes > most else ""
