"""Models that huggingface_hub downloaded into its cache, from the hub of tests/net."""

import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

import weighbridge as wb

SERVER = Path(__file__).parents[3] / "tests" / "net" / "hub.py"
DOWNLOAD = """
import json, sys
from huggingface_hub import snapshot_download
snapshot_download("o/m", **json.loads(sys.argv[1]))
"""


class Hub:
    def __init__(self, url, cache):
        self.url, self.cache = url, cache

    def control(self, path, body=None):
        """Send a request to the controls of the server (tests/net/hub.py)."""
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(self.url + path, data) as reply:
            return reply.read()

    def requests(self):
        return json.loads(self.control("/_log"))

    def download(self, **options):
        """Run huggingface_hub in a process of its own, because it reads the environment only once."""
        subprocess.run([sys.executable, "-c", DOWNLOAD, json.dumps(options)], check=True,
                       capture_output=True, timeout=120)
        self.control("/_reset", {})


@pytest.fixture
def hub(models, tmp_path, monkeypatch):
    """Return the hub, which has the repository o/m with two shards and a config."""
    for name in [n for n in os.environ if n.lower().endswith("_proxy") or n.startswith("HF_")]:
        monkeypatch.delenv(name)
    root = tmp_path / "root"
    (root / "o").mkdir(parents=True)
    (root / "o" / "m").symlink_to(models / "qwen3-4bit-3shards")
    server = subprocess.Popen([sys.executable, SERVER, "--root", root], stdout=subprocess.PIPE,
                              text=True)
    url = server.stdout.readline().split()[-1]
    for name, value in {"HF_ENDPOINT": url, "HF_HOME": str(tmp_path / "home"), "no_proxy": "*",
                        "HF_HUB_DISABLE_XET": "1"}.items():
        monkeypatch.setenv(name, value)
    yield Hub(url, tmp_path / "home" / "hub" / "models--o--m")
    server.kill()
    server.communicate()


def values(model):
    return {name: model[name].numpy("f32").tobytes() for name in model}


def test_opens_what_huggingface_hub_downloaded(hub, models, monkeypatch):
    hub.download()
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with wb.open("hf://o/m") as cached, wb.open(models / "qwen3-4bit-3shards") as local:
        assert values(cached) == values(local) and cached.config == local.config
        assert wb.verify(cached, deep=True).verdict == wb.verify(local, deep=True).verdict
    assert hub.requests() == []


def test_fetches_what_is_missing(hub, models, monkeypatch):
    hub.download(allow_patterns=["config.json", "*.index.json", "*-00001-*"])
    with wb.open("hf://o/m") as part, wb.open(models / "qwen3-4bit-3shards") as local:
        assert values(part) == values(local)
    paths = [entry["path"] for entry in hub.requests()]
    assert any("00002" in path for path in paths) and not any("00001" in path for path in paths)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(wb.errors.Error, match="HF_HUB_OFFLINE"):
        wb.open("hf://o/m")


def test_finds_bytes_that_huggingface_hub_stored_without_noticing(hub):
    hub.control("/_rules", [{"where": "cdn", "fault": "corrupt", "at": 50000, "n": 4}])
    hub.download()
    with wb.open("hf://o/m") as model:
        findings = wb.verify(model, deep=True)
    assert findings.verdict == 2
    assert any("digest" in str(finding) for finding in findings)
