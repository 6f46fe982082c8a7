"""The documentation site: Sphinx builds it without a warning, and it describes every public name."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import weighbridge as wb

TOP = Path(__file__).parents[3]


def inventory(path):
    """Return the names that the site describes."""
    from sphinx.util.inventory import InventoryFile

    with open(path, "rb") as file:
        objects = InventoryFile.load(file, "", os.path.join)
    return {name for kind, names in objects.items() if kind.startswith("py:")
            for name in names}


def test_site(tmp_path):
    pytest.importorskip("sphinx")
    pytest.importorskip("myst_parser")
    if os.environ.get("LD_PRELOAD"):
        pytest.skip("the site does not depend on the sanitizer")
    built = subprocess.run(["sh", TOP / "bindings/python/docs/build.sh", sys.executable, tmp_path],
                           capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    names = inventory(tmp_path / "html/objects.inv")
    missing = {name for name in wb.__all__ if f"weighbridge.{name}" not in names}
    assert missing == {"Error"}  # the name of weighbridge.errors.Error in this module
    assert {"weighbridge.Model.close", "weighbridge.Tensor.numpy"} <= names
    assert {f"weighbridge.errors.{name}" for name in wb.errors.__all__} <= names
