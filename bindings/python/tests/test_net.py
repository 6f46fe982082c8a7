"""Models at addresses: a web server of this process, with ranges."""

import os
import pickle
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

import weighbridge as wb


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_GET(self):
        path = os.path.join(self.server.root, self.path.lstrip("/"))
        body, fields, status = b"", {}, 404
        if os.path.isfile(path):
            with open(path, "rb") as file:
                data = file.read()
            first, last, status = 0, len(data) - 1, 200
            if "Range" in self.headers:
                first, end = map(int, self.headers["Range"].removeprefix("bytes=").split("-"))
                last, status = min(end, last), 206
                fields = {"Content-Range": f"bytes {first}-{last}/{len(data)}", "ETag": '"1"'}
            body = data[first : last + 1]
            self.server.sent += len(body)
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def web(models, monkeypatch):
    """Return the server of the test models, with its `url`."""
    for name in [n for n in os.environ if n.lower().endswith("_proxy") or n.startswith("HF_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("no_proxy", "*")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.root, server.sent = str(models), 0
    server.url = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def values(model):
    return {name: model[name].numpy("f32").tobytes() for name in model}


@pytest.mark.parametrize("name", ["qwen3-bf16/model.safetensors", "qwen3-4bit-3shards/"])
def test_addresses_give_the_same_values_as_paths(web, models, name):
    with wb.open(f"{web.url}/{name}") as remote, wb.open(models / name) as local:
        assert list(remote) == list(local) and remote.config == local.config
        assert values(remote) == values(local)


def test_fetches_only_what_is_needed(web):
    with wb.open(f"{web.url}/qwen3-bf16/model.safetensors") as model:
        name = min(model, key=lambda n: model[n].nbytes)
        assert model[name].numpy("f32") is not None
    assert web.sent < 250_000


def test_arrays_outlive_the_model_and_pickles_open_again(web, models):
    address = f"{web.url}/qwen3-bf16/model.safetensors"
    model = wb.open(address)
    name = next(iter(model))
    array = model[name].numpy("f32")
    again = pickle.loads(pickle.dumps(model))
    model.close()
    assert (again[name].numpy("f32") == array).all()


def test_failures_are_exceptions(web):
    with pytest.raises(wb.errors.MissingFileError):
        wb.open(f"{web.url}/none.gguf")
    with pytest.raises(wb.errors.Error, match="not valid"):
        wb.open("http://user:word@localhost/x.gguf")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_fork_fails_instead_of_waiting(web):
    model = wb.open(f"{web.url}/qwen3-bf16/model.safetensors")
    name = max(model, key=lambda n: model[n].nbytes)
    child = os.fork()
    if child == 0:
        try:
            model[name].numpy("f32")
            code = 1
        except wb.errors.Error as error:
            code = 0 if "fork" in str(error) else 2
        os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    assert model[name].numpy("f32") is not None
