"""Small test sets with the defects of published ones, in several languages, scripts and layouts."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from da_platform.files.mending import SINGLE_BYTE_ENCODINGS

BOM = b"\xef\xbb\xbf"
# Five segments by language; the same are sources, references and, with defects, outputs.
TEXTS = {
    "cs": ["Pekárna brzy otevírá.", "Káva je horká.", "Vlak dnes nejede.", "Kdo ví?", "Přšš."],
    "de": [
        "Die Bäckerei öffnet.",
        "Der Kaffee ist heiß.",
        "Der Zug fällt aus.",
        "Wer weiß?",
        "Ää.",
    ],
    "en": ["The bakery opens.", "The café is hot.", "No train today.", "Who knows?", "Naïve."],
    "es": [
        "La panadería abre.",
        "El café está listo.",
        "Hoy no hay tren.",
        "¿Quién sabe?",
        "Ñandú.",
    ],
    "fr": ["La boulangerie ouvre.", "Le café est chaud.", "Pas de train.", "Qui sait ?", "Été."],
    "he": ["המאפייה נפתחת.", "הקפה חם.", "אין רכבת היום.", "מי יודע?", "שלום."],
    "hi": ["बेकरी खुलती है।", "कॉफ़ी गर्म है।", "आज ट्रेन नहीं है।", "कौन जानता है?", "नमस्ते।"],
    "ja": ["パン屋が開く。", "コーヒーは熱い。", "今日は電車がない。", "誰が知る？", "はい。"],
    "pl": [
        "Piekarnia otwiera.",
        "Kawa jest gorąca.",
        "Dziś nie ma pociągu.",
        "Kto wie?",
        "Źdźbło.",
    ],
    "ru": ["Пекарня открыта.", "Кофе горячий.", "Поезда нет.", "Кто знает?", "Вот так."],
    "zh": ["面包店开门了。", "咖啡很热。", "今天没有火车。", "谁知道？", "你好。"],
}
# What the last line of one system is written in, instead of UTF-8.
ENCODINGS = {
    **dict.fromkeys(("de", "en", "es", "fr"), "windows-1252"),
    **dict.fromkeys(("cs", "pl"), "windows-1250"),
    "ru": "koi8-r",
    "he": "windows-1255",
    "zh": "gb18030",
    "ja": "shift_jis",
}
SYSTEMS = ("Alder", "Birch", "Cedar")


@dataclass(frozen=True)
class DefectiveSet:
    """A test set in a folder or file, how to import it, and what is then stored and mended."""

    path: Path
    options: dict[str, Any]
    outputs: dict[str, list[str]]
    mends: set[str]


def make_set(folder: Path, pair: str, layout: str) -> DefectiveSet:
    source, target = pair.split("-")
    texts = TEXTS[target]
    encoding = ENCODINGS.get(target, "")
    if layout == "jsonl" and encoding not in SINGLE_BYTE_ENCODINGS:
        # A row has the texts of all systems, so only single bytes of it can be read otherwise.
        encoding = ""
    lines = {
        "source": [text.encode() for text in TEXTS[source]],
        "reference": [text.encode() for text in texts],
        "Alder": [text.encode() for text in texts],
        "Birch": [
            text.encode()
            for text in (f"{texts[0]}\x7f", f"a\x01{texts[1]}", f"b\u2028{texts[2]}", *texts[3:])
        ],
        "Cedar": [
            "Cafe\u0301".encode(),
            *(text.encode() for text in texts[1:4]),
            texts[4].encode(encoding or "utf-8"),
        ],
    }
    path = LAYOUTS[layout](folder, pair, lines)
    mends = {"removed U+007F", "removed U+0001", "made a space of U+2028"}
    mends |= {"removed the byte order mark (BOM)", "normalised to Unicode form NFC"}
    return DefectiveSet(
        path=path,
        options={
            "source_language": source,
            "target_language": target,
            "clean": True,
            "encoding": encoding,
        },
        outputs={
            "Alder": texts,
            "Birch": [texts[0], f"a{texts[1]}", f"b {texts[2]}", *texts[3:]],
            "Cedar": ["Café", *texts[1:]],
        },
        mends=mends,
    )


Lines = dict[str, list[bytes]]


def _write(path: Path, lines: list[bytes], *, bom: bool = False, crlf: bool = False) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    end = b"\r\n" if crlf else b"\n"
    path.write_bytes(BOM * bom + b"".join(line + end for line in lines))


def write_plain(folder: Path, pair: str, lines: Lines) -> Path:
    _write(folder / "sources.txt", lines["source"], bom=True)
    _write(folder / "references.txt", lines["reference"])
    for system in SYSTEMS:
        _write(folder / "systems" / f"{system}.txt", lines[system], crlf=system == "Alder")
    return folder


def write_pairs(folder: Path, pair: str, lines: Lines) -> Path:
    """The folder of a shared task, with another pair beside this one."""
    source, target = pair.split("-")
    _write(folder / "sources" / f"newsdemo-src.{source}", lines["source"], bom=True)
    _write(folder / "references" / f"newsdemo-ref.{target}", lines["reference"])
    other = "is-fi"
    _write(folder / "sources" / "newsdemo-src.is", lines["source"])
    _write(folder / "references" / "newsdemo-ref.fi", lines["reference"])
    for system in SYSTEMS:
        outputs = folder / "newsdemo" / pair / f"newsdemo.{pair}.{system}"
        _write(outputs, lines[system], crlf=system == "Alder")
        _write(folder / "newsdemo" / other / f"newsdemo.{other}.{system}", lines["source"])
    return folder


def write_sgml(folder: Path, pair: str, lines: Lines) -> Path:
    source, target = pair.split("-")

    def write(name: str, tag: str, languages: str, system: str, texts: list[bytes]) -> None:
        segments = [b'<seg id="%d">%s</seg>' % (i, text) for i, text in enumerate(texts, 1)]
        head = f'<{tag} setid="newsdemo" {languages}>'.encode()
        doc = f'<doc sysid="{system}" docid="one" origlang="{source}">'.encode()
        rows = [head, doc, *segments, b"</doc>", f"</{tag}>".encode()]
        _write(folder / name, rows, bom=tag == "srcset", crlf=system == "Alder")

    both = f'srclang="{source}" trglang="{target}"'
    write(f"newsdemo-src.{source}.sgm", "srcset", 'srclang="any"', "src", lines["source"])
    write(f"newsdemo-ref.{target}.sgm", "refset", both, "ref", lines["reference"])
    for system in SYSTEMS:
        name = f"{pair}/newsdemo.{pair}.{system}.sgm"
        write(name, "tstset", both, system, lines[system])
    return folder


def write_jsonl(folder: Path, pair: str, lines: Lines) -> Path:
    """One row for each segment, as since WMT24."""
    rows = []
    for number in range(len(lines["source"])):
        texts = {"refA": lines["reference"][number]}
        texts |= {system: lines[system][number] for system in SYSTEMS}
        outputs = b", ".join(b'"%s": %s' % (name.encode(), quoted(t)) for name, t in texts.items())
        document = json.dumps(f"{pair}_#_news_#_one_#_{number}").encode()
        row = b'{"doc_id": %s, "src_text": %s, "tgt_text": {%s}}'
        rows.append(row % (document, quoted(lines["source"][number]), outputs))
    path = folder / "newsdemo.jsonl"
    _write(path, rows, bom=True, crlf=True)
    return path


def quoted(text: bytes) -> bytes:
    """A JSON string whose bytes beyond ASCII stay as they are, as careless programs write it."""
    return (
        b'"'
        + text.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\x01", b"\\u0001")
        + b'"'
    )


LAYOUTS: dict[str, Callable[[Path, str, Lines], Path]] = {
    "plain": write_plain,
    "pairs": write_pairs,
    "sgml": write_sgml,
    "jsonl": write_jsonl,
}
