import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "statistics" / "qe.md"


def test_the_examples_of_the_page_about_qe_show_what_it_says(capsys):
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, object] = {}
    for block in blocks:
        exec(block, names)  # noqa: S102
    lines = capsys.readouterr().out.splitlines()
    (bold_r, bold_mae, _, _), (dull_r, dull_mae, _, _) = (
        [float(number) for number in re.findall(r"-?\d\.\d\d", line)] for line in lines[:2]
    )
    assert bold_r > 0.4 > abs(dull_r) and dull_mae < bold_mae
    assert lines[-1] == "[False False  True]"
