"""Models that huggingface_hub downloaded into its cache, from the hub of tests/net."""

import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

import weighbridge as wb

# huggingface_hub needs hf-xet, which has no binary for some versions of Python.
pytest.importorskip("huggingface_hub", exc_type=ImportError)

SERVER = Path(__file__).parents[3] / "tests" / "net" / "hub.py"
DOWNLOAD = """
import json, sys
from huggingface_hub import snapshot_download
print(snapshot_download("o/m", **json.loads(sys.argv[1])))
"""
SCAN = """
from huggingface_hub import scan_cache_dir
cache = scan_cache_dir()
print([str(w) for w in cache.warnings], [r.repo_id for r in cache.repos])
"""
LOCK = """
import sys
from huggingface_hub.utils import WeakFileLock
with WeakFileLock(sys.argv[1]):
    print("locked", flush=True)
    sys.stdin.read()
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

    def run(self, script, *arguments):
        """Run huggingface_hub in a process of its own, because it reads the environment only once."""
        return subprocess.run([sys.executable, "-c", script, *arguments], check=True, text=True,
                              capture_output=True, timeout=120).stdout.strip()

    def download(self, **options):
        path = self.run(DOWNLOAD, json.dumps(options))
        self.log = self.requests()
        self.control("/_reset", {})
        return path


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


# ---- wb pull ----


def start(*arguments):
    """Start the command, without the run-time library of a sanitizer that Python needs."""
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    return subprocess.Popen([os.environ["WB"], *arguments], env=environment, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def command(*arguments):
    with start(*arguments) as process:
        out, err = process.communicate(timeout=120)
    return subprocess.CompletedProcess(arguments, process.returncode, out, err)


def pull(*arguments):
    result = command("pull", "hf://o/m", *arguments)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def contents(hub):
    return [entry for entry in hub.requests() if entry["where"] == "cdn"]


def test_huggingface_hub_finds_what_was_pulled(hub, monkeypatch):
    path = pull()
    hub.control("/_reset", {})
    assert hub.download() == path
    assert not any("/resolve/" in entry["path"] and entry["method"] == "GET" for entry in hub.log)
    assert hub.run(SCAN) == "[] ['o/m']"
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert hub.download() == path
    assert hub.log == []


def test_huggingface_hub_knows_that_a_part_was_pulled(hub, monkeypatch):
    path = pull("--include", "*.json")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert hub.download(allow_patterns=["*.json"]) == path
    with pytest.raises(subprocess.CalledProcessError) as failure:
        hub.download()
    assert "IncompleteSnapshotError" in failure.value.stderr


def test_pulls_nothing_that_huggingface_hub_downloaded(hub):
    path = hub.download()
    assert json.loads(pull("--json"))["fetched"] == 0
    assert pull() == path and contents(hub) == []


def test_folders_are_those_of_huggingface_hub(hub, tmp_path, models):
    for first, second in ("wb", "hub"), ("hub", "wb"):
        folder = tmp_path / first
        for client in first, second:
            hub.control("/_reset", {})
            if client == "wb":
                assert pull("--to", str(folder)) == str(folder)
                log = hub.requests()
            else:
                hub.download(local_dir=str(folder))
                log = hub.log
        assert not any(entry["where"] == "cdn" for entry in log)
        for file in (models / "qwen3-4bit-3shards").iterdir():
            assert (folder / file.name).read_bytes() == file.read_bytes()


def test_waits_for_the_lock_of_huggingface_hub(hub):
    pull("--include", "*-00001-*")
    [blob] = [path for path in (hub.cache / "blobs").iterdir() if len(path.name) == 64]
    lock = hub.cache.parent / ".locks" / "models--o--m" / f"{blob.name}.lock"
    blob.unlink()
    holder = subprocess.Popen([sys.executable, "-c", LOCK, str(lock)], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True)
    assert holder.stdout.readline() == "locked\n"
    waiting = start("pull", "hf://o/m", "--include", "*-00001-*")
    assert "waiting for another process" in waiting.stderr.readline()
    assert waiting.poll() is None and not blob.exists()
    holder.communicate("")
    assert waiting.wait(60) == 0 and blob.exists()
    waiting.communicate()


def test_stores_no_bytes_that_changed_on_the_way(hub):
    hub.control("/_rules", [{"where": "cdn", "fault": "corrupt", "at": 50000, "n": 4}])
    result = command("pull", "hf://o/m")
    assert result.returncode == 2 and "digest" in result.stderr
    assert not (hub.cache / "refs" / "main").exists()
    hub.control("/_reset", {})
    path = pull()
    assert command("verify", "--deep", path).returncode == 0


def test_huggingface_hub_tolerates_partial_files(hub):
    hub.control("/_rules", [{"where": "cdn", "fault": "stall", "after": 50000, "seconds": 60}])
    process = start("pull", "hf://o/m")
    while not any((hub.cache / "blobs").glob("*.wb-partial")):
        assert process.poll() is None
    process.kill()
    process.wait()
    hub.control("/_reset", {})
    assert hub.run(SCAN) == "[] ['o/m']"
    hub.download()
    assert pull("--json") and contents(hub) == []
