"""The types of the package, checked by mypy and pyright, and the stub of the extension module."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import weighbridge as wb
from weighbridge import _core

PACKAGE = Path(__file__).parents[1]


USE = """
import weighbridge as wb
model: wb.Model = wb.open("x")
tensor: wb.Tensor = model["a"]
layers: int | None = model.config.n_layers
names: list[str] = list(model)
wrong: int = model.format
"""


def test_mypy(tmp_path):
    """The package has no errors, and users see its types."""
    pytest.importorskip("mypy")
    (tmp_path / "use.py").write_text(USE)
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    environment["MYPYPATH"] = f"{PACKAGE}:{tmp_path}"
    result = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", PACKAGE / "mypy.ini", "--cache-dir",
         tmp_path, "-p", "weighbridge", "-m", "use"], capture_output=True, text=True,
        env=environment, cwd=tmp_path)
    errors = [line for line in result.stdout.splitlines() if " error: " in line]
    assert len(errors) == 1 and errors[0].startswith("use.py:7: "), result.stdout


def pyright(*arguments, **options):
    """Return the errors of a run of pyright, as (file name, line number)."""
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    result = subprocess.run(
        [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable,
         *arguments], capture_output=True, text=True, env=environment, **options)
    found = json.loads(result.stdout)["generalDiagnostics"]
    return [(Path(one["file"]).name, one["range"]["start"]["line"] + 1) for one in found
            if one["severity"] == "error"]


def test_pyright(tmp_path):
    """The package has no errors, and users see its types."""
    pytest.importorskip("pyright")
    assert pyright("--project", PACKAGE / "pyrightconfig.json") == []
    (tmp_path / "use.py").write_text(USE)
    (tmp_path / "pyrightconfig.json").write_text(json.dumps({"extraPaths": [str(PACKAGE)]}))
    assert pyright("use.py", cwd=tmp_path) == [("use.py", 7)]


def test_the_stub_names_what_the_module_has():
    text = (PACKAGE / "weighbridge" / "_core.pyi").read_text()
    for name in dir(_core):
        if not name.startswith("_"):
            assert f"def {name}(" in text or f"class {name}" in text, name
    for kind in ("Array", "Model", "Tensor", "Conversion", "Writer", "Provider"):
        for name in vars(getattr(_core, kind)):
            if not name.startswith("__"):
                assert f"def {name}(" in text, (kind, name)


def test_every_public_name_has_documentation():
    assert set(wb.__all__) <= set(dir(wb))
    for name in wb.__all__:
        value = getattr(wb, name)
        assert (value.__doc__ or "").strip(), name
        if isinstance(value, type) and not issubclass(value, Exception):
            for method, function in vars(value).items():
                if callable(function) and not method.startswith("_"):
                    assert function.__doc__, f"{name}.{method}"
