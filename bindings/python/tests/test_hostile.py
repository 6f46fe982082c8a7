"""Damaged files and senseless arguments are exceptions, never crashes."""

import random

import numpy as np
import pytest
from conftest import safetensors_bytes

import weighbridge as wb
from weighbridge import _core
from weighbridge.gguf import GGUFReader
from weighbridge.safetensors import SafetensorError, deserialize, safe_open

TIMES = 150


def damaged(content, rng):
    """Return a copy with some bytes changed, mostly in the header, and sometimes truncated."""
    result = bytearray(content)
    for _ in range(rng.choice((1, 2, 8))):
        place = rng.randrange(min(len(result), rng.choice((64, 4096, len(result)))))
        result[place] = rng.choice((0, 1, 0x7f, 0xff, rng.randrange(256)))
    if rng.random() < 0.2:
        del result[rng.randrange(len(result)):]
    return bytes(result)


def use(source):
    """Use everything that a model says about itself, and some values."""
    with wb.open(source) as model:
        assert model.config is not None and len(dict(model.metadata)) >= 0
        for text in (repr(model), model._repr_html_(), str(model.findings), str(model.files)):
            assert text is not None
        for name in list(model)[:8]:
            tensor = model[name]
            assert repr(tensor) and tensor.parts is not None and tensor._repr_html_()
            if tensor.size <= 1 << 16:
                try:
                    tensor.numpy()
                    tensor[..., :1] if tensor.ndim else tensor[()]
                except wb.Error:
                    pass


def sources(data, tmp_path):
    """Return files of each format: name -> bytes."""
    gguf, npz = tmp_path / "small.gguf", tmp_path / "small.npz"
    wb.convert(data / "models" / "qwen3-bf16", gguf, "gguf", quant="Q4_K_M")
    np.savez(npz, a=np.arange(6, dtype="f4").reshape(2, 3), b=np.ones(3, "i8"))
    safetensors = safetensors_bytes({"a": ("F32", (2, 3), bytes(24)), "b": ("BF16", (4,), bytes(8)),
                                     "c": ("I64", (), bytes(8))}, {"key": "value"})
    return {"safetensors": safetensors, "gguf": gguf.read_bytes(), "npz": npz.read_bytes()}


def test_damaged_files(data, tmp_path):
    rng = random.Random(1)
    for name, content in sources(data, tmp_path).items():
        opened = 0
        for _ in range(TIMES):
            try:
                use(damaged(content, rng))
                opened += 1
            except wb.Error as error:
                assert error.message and error.code, (name, error)
        assert opened < TIMES, name


def test_damaged_files_through_the_drop_ins(data, tmp_path):
    rng = random.Random(2)
    files = sources(data, tmp_path)
    path = tmp_path / "damaged"
    for _ in range(TIMES):
        content = damaged(files["safetensors"], rng)
        path.write_bytes(content)
        try:
            with safe_open(path, "np") as file:
                for name in file.keys():
                    file.get_tensor(name)
            deserialize(content)
        except SafetensorError:
            pass
        path.write_bytes(damaged(files["gguf"], rng))
        try:
            reader = GGUFReader(path)
            assert [field.contents() for field in reader.fields.values()] is not None
            assert [tensor.data.shape for tensor in reader.tensors] is not None
        except (wb.Error, ValueError):
            pass


SENSELESS = [None, -1, 2**31, 2**63, 2**64, -2**63, 1e400, float("nan"), "", "a\0b", "\udcff", b"", b"\0" * 9, (), (-1,),
             (2**62, 2**62), [], {}, object(), int, bytearray(3), memoryview(b"abc")[::2], slice(None, None, 0), ...]


def targets(model):
    """Return the functions and methods of the extension module that cannot write a file."""
    tensor = model["a"]
    for owner in (_core, model, tensor, tensor.array()):
        for name in dir(owner):
            if not name.startswith("_") and name not in ("close", "set_threads", "edit", "recover"):
                function = getattr(owner, name, None)
                if callable(function):
                    yield name, function


def test_senseless_arguments(floats, tmp_path, monkeypatch):
    """Any arguments give a result or an exception of Python, and never a SystemError."""
    monkeypatch.chdir(tmp_path)
    rng = random.Random(3)
    refused = 0
    with wb.open(floats) as model:
        for name, function in targets(model):
            for _ in range(40):
                arguments = rng.choices(SENSELESS, k=rng.randrange(4))
                try:
                    function(*arguments)
                except SystemError as error:
                    raise AssertionError((name, arguments)) from error
                except Exception:
                    refused += 1
        assert model["a"].numpy().sum() == 276
    assert refused > 1000


@pytest.mark.parametrize("key", SENSELESS, ids=lambda key: type(key).__name__)
def test_senseless_keys(floats, key):
    with wb.open(floats) as model:
        for value in (model, model["a"], model.metadata):
            try:
                value[key]
            except (KeyError, IndexError, TypeError, ValueError, wb.Error):
                pass
