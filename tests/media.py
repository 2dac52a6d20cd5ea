"""Tiny pictures and sounds, and campaigns that have them as sources."""

import io
import struct
import wave
import zlib
from pathlib import Path
from typing import Any

from hits.campaigns.building import build_hits
from hits.campaigns.importing import import_campaign
from hits.campaigns.lifecycle import change_status
from hits.models import Campaign, Recruitment
from tests.factories import sentence

CAPTIONS = "WEBVTT\n\n00:00.000 --> 00:00.200\nEin Ton.\n"


def png(width: int = 60, height: int = 40) -> bytes:
    """A gray rectangle."""
    rows = b"".join(b"\x00" + b"\x80" * width for _ in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(content))
        + name
        + content
        + struct.pack(">I", zlib.crc32(name + content))
        for name, content in parts
    )


def wav(n_samples: int = 2_000) -> bytes:
    """A quarter of a second of a click."""
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(1)
        file.setframerate(8_000)
        file.writeframes(bytes(128 + (n % 50) for n in range(n_samples)))
    return buffer.getvalue()


def write_folder(
    root: Path, *, n_segments: int = 16, document_length: int = 0, video: bytes = b""
) -> Path:
    """A table of two systems with pictures, sounds and plain texts in turn, and the files.

    Instead of pictures, there can be videos.
    """
    root.mkdir(parents=True, exist_ok=True)
    (root / "media").mkdir()
    rows = ["segment\tsource\tmedia\tcaptions\tdocument\tsystem\ttranslation"]
    for number in range(1, n_segments + 1):
        name, captions, source = ("", "", f"Quelle {number} {sentence(number)}.")
        if number % 3 == 1:
            name, source = f"media/p{number}.dat", ""
            (root / name).write_bytes(video or png(width=60 + number))
        elif number % 3 == 2:
            name, captions = f"media/s{number}.dat", "media/words.vtt"
            (root / name).write_bytes(wav(2_000 + number))
        for system in ("a", "b"):
            text = f"Text {number} of {system} {sentence(number + len(system))} {system}."
            document = f"talk-{number // document_length}" if document_length else ""
            rows.append(f"{number}\t{source}\t{name}\t{captions}\t{document}\t{system}\t{text}")
    (root / "media" / "words.vtt").write_text(CAPTIONS)
    (root / "table.tsv").write_text("\n".join(rows) + "\n")
    return root


def media_campaign(folder: Path, *, video: bytes = b"", **options: Any) -> Campaign:
    """An open campaign with a HIT of 40 items."""
    settings = {
        "name": "Media",
        "source_language": "de",
        "target_language": "en",
        "task": "source",
        "hit_size": 40,
        "seed": 7,
    }
    length = 4 if options.get("presentation") == "document" else 0
    folder = write_folder(folder, document_length=length, video=video)
    campaign = import_campaign(path=folder, **settings | options).campaign
    Recruitment.objects.create(campaign=campaign, is_open=True)
    build_hits(campaign=campaign)
    return change_status(campaign=campaign, to=Campaign.Status.OPEN)
