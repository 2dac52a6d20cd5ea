"""QR codes are drawn square by square as segno makes them, and it is loaded by whoever draws one."""

import re

import segno

from hits.people.qr import BORDER, qr_code
from tests.subprocesses import output_of, run_python

TEXT = "otpauth://totp/DA%20Platform%3Aalice?secret=GEZDGNBVGY3TQOJQ&issuer=DA%20Platform"  # pragma: allowlist secret


def dark_squares(path: str) -> set[tuple[int, int]]:
    runs = re.findall(r"M(\d+) (\d+)h(\d+)v1h-\3z", path)
    assert "".join("M{} {}h{}v1h-{}z".format(*run, run[2]) for run in runs) == path
    return {(int(x) + i, int(y)) for x, y, n in runs for i in range(int(n))}


def test_the_dark_squares_are_those_of_the_code():
    drawn = qr_code(TEXT)
    rows = segno.make(TEXT, error="m", micro=False).matrix
    wanted = {
        (x + BORDER, y + BORDER) for y, row in enumerate(rows) for x, dark in enumerate(row) if dark
    }
    assert dark_squares(drawn.path) == wanted
    assert drawn.size == len(rows) + 2 * BORDER


def test_no_start_waits_for_it():
    code = (
        "import django, sys; django.setup(); import da_platform.urls; print('segno' in sys.modules)"
    )
    assert output_of(run_python("-c", code, DJANGO_SETTINGS_MODULE="tests.settings")) == "False\n"
