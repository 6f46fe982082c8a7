"""The code of the pages runs."""

import re
import shutil
from pathlib import Path

import pytest

TOP = Path(__file__).parents[3]


def code_of(page):
    """Return the blocks of Python in a page as one program, with the line numbers of the page."""
    text = page.read_text("utf-8")
    lines = [""] * len(text.splitlines())
    for block in re.finditer(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        first = text[:block.start(1)].count("\n")
        for number, line in enumerate(block[1].splitlines()):
            lines[first + number] = line
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("page", ["docs/python.md", "bindings/python/README.md"])
def test_the_code_runs(page, models, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for place in ("model", "path/to/model"):
        shutil.copytree(models / "qwen3-bf16", place)
    code = code_of(TOP / page)
    assert "import weighbridge" in code
    exec(compile(code, page, "exec"), {"__name__": page})


def test_the_quantizations_of_the_tables_exist(models):
    """Each `quant="…"` of docs/python.md can be planned, and each name behind `wb.` exists."""
    import weighbridge as wb

    text = (TOP / "docs/python.md").read_text("utf-8")
    kinds = set(re.findall(r'quant="([^"]+)"', text))
    assert len(kinds) >= 6
    for kind in kinds:
        to = "mlx" if kind.islower() else "gguf"
        wb.plan(models / "qwen3-bf16", to, quant=kind)
    for name in re.findall(r"\bwb\.(\w+)", text):
        assert hasattr(wb, name), name
