"""What the command does: verify, hash, diff, convert, edit, codec, writing, stores, providers."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import weighbridge as wb

FAKE_CUDA = Path(os.environ.get("FAKE_DRIVERS", "")) / "libcuda.so.1"


# ---- verify ----


def test_verify(models, tmp_path, make):
    assert wb.verify(models / "qwen3-bf16").ok
    with wb.open(models / "qwen3-bf16") as model:
        assert wb.verify(model, deep=True).verdict == 0
    nan = make({"a": ("F32", (2,), np.array([1, np.nan], "f4").tobytes())})
    findings = wb.verify(nan)
    assert findings.verdict == 1 and not findings.ok
    [finding] = [one for one in findings if one.severity > wb.Severity.INFO]
    assert finding.name == "a" and finding.file == str(nan) and finding.code in str(finding.code)
    assert "a" in str(finding) and "nan" in finding.message.lower()
    bad = tmp_path / "bad.gguf"
    bad.write_bytes(b"GGUF" + bytes(20))
    refused = wb.verify(bad)
    assert refused.verdict == 2 and refused[-1].severity is wb.Severity.FATAL
    with pytest.raises(FileNotFoundError):
        wb.verify(tmp_path / "missing")


def test_verify_against_a_manifest(floats, tmp_path):
    manifest = tmp_path / "manifest.json"
    manifest.write_bytes(wb.hash(floats, manifest=True).manifest)
    assert wb.verify(floats, manifest=manifest).ok
    data = bytearray(floats.read_bytes())
    data[-1] ^= 1
    floats.write_bytes(data)
    assert not wb.verify(floats, manifest=manifest).ok


# ---- hash and diff ----


def test_hash(models, floats):
    hashes = wb.hash(models / "qwen3-bf16")
    [path] = hashes.files
    assert hashes.files[path] == hashlib.sha256(Path(path).read_bytes()).digest()
    assert len(hashes.values) == 32 and str(hashes) == hashes.values.hex()
    assert "token_embedding.weight" in hashes.tensors and hashes.manifest is None
    one = wb.hash(floats, files=False).tensors["a"]
    expected = hashlib.sha256(np.array([2, 4, 6], "<u8").tobytes() +
                              np.arange(24, dtype="<f4").tobytes()).digest()
    assert one.digest == expected and one.nan == 0 and not one.is_canonical
    with pytest.raises(ValueError):
        wb.hash(floats, files=False, values=False)


def test_diff(models, make):
    same = wb.diff(models / "qwen3-bf16", models / "qwen3-bf16")
    assert not same and same.distance.different == 0
    differences = wb.diff(models / "qwen3-bf16", models / "qwen3-4bit-3shards")
    assert differences and {"values", "encodings"} <= differences.kinds
    assert 0 < differences.distance.nmse < 0.05 and differences.tensors[0].distance
    a = make({"x": ("F32", (2,), np.array([3, 4], "f4").tobytes())}, name="a.safetensors")
    b = make({"x": ("F32", (2,), np.array([3, 5], "f4").tobytes())}, name="b.safetensors")
    [row] = wb.diff(a, b, kinds=["values"]).tensors
    assert row.differs == {"values"} and row.distance.nmse == 1 / 25 and row.distance.maximum == 1


# ---- convert ----


def test_convert_lossy(data, tmp_path):
    def altered(**changes):
        folder = tmp_path / "model"
        folder.mkdir(exist_ok=True)
        for file in (data / "twins" / "llama").iterdir():
            (folder / file.name).write_bytes(file.read_bytes())
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps(config | changes))
        return folder

    with pytest.raises(wb.errors.UnsupportedError, match="llama.cpp always uses silu"):
        wb.plan(altered(hidden_act="gelu"), "gguf")
    plan = wb.plan(altered(hidden_act="gelu"), "gguf", force_lossy=True)
    assert "hidden_act" in [finding.name for finding in plan.findings]
    with pytest.raises(wb.errors.UnsupportedError, match="the most similar family is"):
        wb.plan(altered(model_type="newmodel"), "gguf")
    wb.convert(altered(model_type="newmodel"), tmp_path / "raw.gguf", "gguf", raw=True)
    with wb.open(tmp_path / "raw.gguf") as model:
        assert "model.embed_tokens.weight" in model


def test_convert(models, tmp_path):
    path = tmp_path / "q8.gguf"
    seen = []
    result = wb.convert(models / "qwen3-bf16", path, "gguf", quant="Q8_0",
                        rules={r"token_embd": "F16"}, progress=lambda *done: seen.append(done))
    assert seen[-1][0] == seen[-1][1] > 0
    rows = {row.name: row for row in result.tensors}
    assert rows["token_embd.weight"].after == "F16"
    assert rows["blk.0.attn_q.weight"].after == "Q8_0"
    assert rows["blk.0.attn_q.weight"].fidelity is wb.Fidelity.LOSSY
    assert 0 < rows["blk.0.attn_q.weight"].nmse < 1e-3
    with wb.open(path) as model:
        assert model.format == "gguf" and model["blk.0.attn_q.weight"].dtype == "Q8_0"
        expected = wb.open(models / "qwen3-bf16").config
        assert model.config.quant_bits == 8 and model.config.quant_group_size == 32
        assert replace(model.config, quant_bits=None, quant_group_size=None) == expected
    with pytest.raises(FileExistsError):
        wb.convert(models / "qwen3-bf16", path, "gguf")
    wb.convert(models / "qwen3-bf16", path, "gguf", force=True)


def test_a_plan_is_not_written(models, tmp_path):
    plan = wb.plan(models / "qwen3-bf16", "gguf", quant="Q4_K_M")
    assert len(plan.tensors) == 35 and plan.tensors[0].fidelity is not wb.Fidelity.LOSSY
    plan.check(tmp_path / "x.gguf")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(wb.errors.ArgumentError):
        wb.plan(models / "qwen3-bf16", "gguf", quant="Q99")
    with pytest.raises(ValueError, match="to is one of"):
        wb.plan(models / "qwen3-bf16", "pickle")


def test_exceptions_cancel_a_conversion(models, tmp_path):
    def stop(done, total):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        wb.convert(models / "qwen3-bf16", tmp_path / "x.gguf", "gguf", progress=stop)
    assert list(tmp_path.iterdir()) == []


def test_a_conversion_is_used_by_one_thread_at_a_time(models, tmp_path):
    plan = wb.plan(models / "qwen3-bf16", "gguf")
    errors = []

    def other(done, total):
        try:
            plan.tensors
        except RuntimeError as error:
            errors.append(str(error))

    plan.run(tmp_path / "x.gguf", progress=other)
    assert errors and set(errors) == {"the conversion is in use by another thread"}


INTERRUPTED = """
import os, signal, sys, threading, weighbridge as wb
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell in the background ignores SIGINT
def interrupt(done, total):
    os.kill(os.getpid(), signal.SIGINT)
try:
    wb.convert(sys.argv[1], sys.argv[2], "gguf", progress=interrupt)
except KeyboardInterrupt:
    sys.exit(130)
"""


def test_ctrl_c_cancels(models, tmp_path):
    path = tmp_path / "x.gguf"
    result = subprocess.run([sys.executable, "-c", INTERRUPTED, models / "qwen3-bf16", path],
                            timeout=60)
    assert result.returncode in (130, -signal.SIGINT) and not path.exists()


# ---- edit ----


def test_edit(models, tmp_path):
    path = tmp_path / "x.gguf"
    wb.convert(models / "qwen3-bf16", path, "gguf")
    done = wb.edit(path, set={"qwen3.block_count": 5, "new.u8": wb.Value("u8", 200), "new.f": 0.5,
                              "new.list": ["a", "ä"], "new.nested": [1, -1], "new.yes": True},
                   rename_keys={"general.architecture": "general.arch2"},
                   rename={"output_norm.weight": "norm"}, drop=["blk.0.attn_q.weight"])
    assert done.way in ("header", "insert", "new file") and done.nbytes == path.stat().st_size
    with wb.open(path) as model:
        metadata = model.metadata
        assert metadata["qwen3.block_count"] == 5
        assert metadata.entry("qwen3.block_count").type == "uint"  # as before
        assert metadata["new.u8"] == 200 and metadata.entry("new.u8").bits == 8
        assert metadata["new.f"] == 0.5 and metadata.entry("new.f").bits == 32
        assert metadata["new.list"] == ["a", "ä"] and metadata["new.nested"] == [1, -1]
        assert metadata["new.yes"] is True and metadata["general.arch2"] == "qwen3"
        assert metadata.array("new.nested").numpy().tolist() == [1, -1]
        assert "norm" in model and "blk.0.attn_q.weight" not in model
        with pytest.raises(TypeError):
            metadata.array("new.list")
    with pytest.raises(wb.errors.NotFoundError):
        wb.edit(path, rename={"missing": "x"})
    with pytest.raises(OverflowError):
        wb.Value("u8", 256).packed()
    assert wb.edit(path, set={"new.f": 1.0}, dry_run=True).way != "nothing"
    assert wb.open(path).metadata["new.f"] == 0.5
    assert wb.recover(path) is False


def test_edit_safetensors(floats):
    wb.edit(floats, set={"note": "hello"})
    assert wb.open(floats).metadata["note"] == "hello"
    wb.edit(floats, delete=["note"])
    assert "note" not in wb.open(floats).metadata


# ---- codecs ----


def golden_types(data):
    for line in (data / "golden" / "ggml" / "manifest.tsv").read_text().splitlines():
        if line and not line.startswith("#"):
            yield line.split("\t")


@pytest.mark.parametrize("name", sorted(wb.dtypes()))
def test_dtypes(name):
    dtype = wb.dtypes()[name]
    assert dtype.name == name and dtype.description and dtype.block_bits > 0


@pytest.mark.parametrize("name", [d.name for d in wb.dtypes().values() if d.encodes and d.decodes])
def test_quantize_and_back(name):
    dtype = wb.dtypes()[name]
    values = np.random.default_rng(1).standard_normal((3, 5, 256)).astype("f4")
    weights = np.ones(256, "f4") if dtype.importance == 2 else None
    if not dtype.is_float and dtype.block_size == 1:
        values = np.abs(np.round(values))
    blocks = wb.quantize(values, name, importance=weights)
    assert blocks.shape == (3, 5, 256 // dtype.block_size * dtype.block_bits // 8)
    again = wb.dequantize(blocks, name)
    assert again.shape == values.shape and again.dtype == np.float32
    error = ((again - values) ** 2).sum() / (values ** 2).sum()
    assert error < 0.7 or name in ("F8_E8M0", "BOOL", "I8", "U8")
    assert np.array_equal(wb.dequantize(blocks.tobytes(), name, values.shape), again, equal_nan=True)


def test_quantize_refuses():
    with pytest.raises(wb.errors.ArgumentError):
        wb.quantize(np.zeros((2, 33), "f4"), "Q8_0")
    with pytest.raises(ValueError, match="scalar"):
        wb.quantize(np.float32(1), "Q8_0")
    with pytest.raises(ValueError, match="importance has the shape"):
        wb.quantize(np.zeros((2, 32), "f4"), "Q8_0", importance=np.ones(31))
    with pytest.raises(wb.errors.ArgumentError):
        wb.dequantize(np.zeros((2, 33), "u1"), "Q8_0", (2, 32))
    values = np.arange(64, dtype="f4").reshape(2, 32)
    assert np.array_equal(wb.quantize(values.T.copy().T, "Q8_0"), wb.quantize(values, "Q8_0"))


@pytest.mark.parametrize("mode", ["affine", "mxfp4", "mxfp8", "nvfp4"])
@pytest.mark.parametrize("dtype", ["f4", "f2", ml_dtypes.bfloat16])
def test_mlx_modes(mode, dtype):
    values = np.random.default_rng(2).standard_normal((2, 3, 128)).astype(dtype)
    parts = wb.quantize_mlx(values, mode)
    assert parts[0].dtype == np.uint32 and parts[0].shape[:2] == (2, 3)
    again = wb.dequantize_mlx(*parts, mode=mode)
    assert again.shape == values.shape
    assert ((again - values.astype("f4")) ** 2).mean() < 0.05


# ---- writing ----


def test_save_any_strides(tmp_path):
    base = np.arange(60, dtype="f4").reshape(3, 4, 5)
    arrays = {
        "t": base.T, "step": base[:, ::2, ::-1], "big": base.astype(">f4"), "scalar": np.float32(3),
        "empty": np.empty((0, 3), "f2"), "bf": base.astype(ml_dtypes.bfloat16)[1:], "bool": base > 7,
        "broadcast": np.broadcast_to(np.int64(5), (2, 2)),
    }
    for suffix in ("safetensors", "npz"):
        path = tmp_path / f"x.{suffix}"
        given = dict(arrays) if suffix == "safetensors" else {
            name: value for name, value in arrays.items() if name != "bf"}
        wb.save(path, given)
        with wb.open(path) as model:
            assert set(model) == set(given)
            for name, value in given.items():
                got = model[name].numpy()
                assert got.shape == np.shape(value) and np.array_equal(got, value), name


def test_save_takes_tensors_of_models(floats, tmp_path):
    model = wb.open(floats)
    wb.save(tmp_path / "y.safetensors", {"b": model["a"], "c": model["a"].array()}, {"k": "v"})
    again = wb.open(tmp_path / "y.safetensors")
    assert np.array_equal(again["b"].numpy(), model["a"].numpy())
    assert again.metadata["k"] == "v"
    with pytest.raises(ValueError, match="names no format"):
        wb.save(tmp_path / "y.bin", {})


def test_writer(tmp_path):
    writer = wb.Writer("gguf")
    writer.set("general.architecture", "test")
    writer.set("n", wb.Value("i16[]", [1, -2]))
    first = writer.add("a", "F32", (2, 3))
    second = writer.add("b", "Q8_0", (1, 32))
    [file] = writer.plan(tmp_path / "w.gguf")
    assert file.format == "gguf" and file.tensors == 2 and writer.order == [first, second]
    writer.begin()
    values = np.arange(6, dtype="f4")
    threads = [threading.Thread(target=writer.put, args=(first, values[i : i + 2].tobytes(), 4 * i))
               for i in (0, 2, 4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with pytest.raises(wb.errors.ArgumentError):
        writer.commit()  # bytes are missing
    writer.put(second, wb.quantize(np.full((1, 32), 127), "Q8_0"))
    with pytest.raises(wb.errors.ArgumentError):
        writer.put(second, bytes(34))
    assert not (tmp_path / "w.gguf").exists()
    writer.commit()
    with wb.open(tmp_path / "w.gguf") as model:
        assert model["a"].numpy().ravel().tolist() == list(range(6))
        assert model["b"].numpy().tolist() == [[127.0] * 32] and model.metadata["n"] == [1, -2]


def test_a_dropped_writer_leaves_nothing(tmp_path):
    writer = wb.Writer("safetensors")
    writer.add("a", "U8", (3,))
    writer.plan(tmp_path / "x.safetensors")
    writer.begin()
    del writer
    assert list(tmp_path.iterdir()) == []


# ---- stores ----


def test_stores(models, tmp_path):
    wb.convert(models / "qwen3-bf16", "mine:tiny", "ollama", quant="int4", store=tmp_path)
    [entry] = wb.list_store(tmp_path)
    assert entry.name == "mine:tiny" and entry.error is None and entry.nbytes > 0
    with wb.open("mine:tiny", store=tmp_path) as model:
        assert model.config.n_layers == 3
        assert model["layers.0.attention.q.weight"].encoding.type == "int4"
    with pytest.raises(wb.errors.NotFoundError):
        wb.list_store(tmp_path / "missing")


# ---- providers and load ----


def test_provider(models):
    model = wb.open(models / "qwen3-bf16")
    q, k = "layers.0.attention.q.weight", "layers.0.attention.k.weight"
    with wb.Provider(model, plain="keep") as provider:
        buffer = provider.get(q)
        assert buffer.shape == (256, 128) and np.array_equal(buffer.numpy(), model[q].numpy())
        fused = provider.fuse(q, k)
        assert fused.part_rows == (256, 128)
        both = np.concatenate([model[q].numpy(), model[k].numpy()])
        assert np.array_equal(fused.numpy(), both)
        half = provider.slice(q, 0, 1, 2)
        assert np.array_equal(half.numpy(), model[q].numpy()[128:])
        assert q in provider and "no" not in provider and provider.stats["buffers"] == 3
        assert provider.stats["in_use"] == 3
        del buffer, half
        provider.trim()
        assert provider.stats["buffers"] == 1
        with pytest.raises(wb.errors.NotFoundError):
            provider.get("no")
    assert np.array_equal(fused.numpy(), both)  # after the provider is closed
    with pytest.raises(wb.errors.ClosedError):
        provider.get(q)


def test_provider_policies(models):
    model = wb.open(models / "qwen3-4bit-3shards")
    name = "layers.0.ffn.down.weight"
    packed = wb.Provider(model).get(name)
    assert [section.role for section in packed.sections] == ["values", "scales", "biases"]
    assert packed["scales"].array.dtype == "F16" and packed.dtype == 100 and packed.bits == 4
    decoded = wb.Provider(model, plain="F32", decode=True).get(name)
    assert np.array_equal(decoded.numpy(), model[name].numpy())


@pytest.mark.parametrize("copy", [True, False])
def test_load_on_the_host(models, copy):
    model = wb.open(models / "qwen3-bf16")
    weights = wb.load(model, copy=copy)
    assert set(weights) == set(model)
    for name, array in weights.items():
        assert np.array_equal(array.numpy(), model[name].numpy())
    halves = wb.load(model, dtype="F16", names=["model.norm.weight"])
    assert halves["model.norm.weight"].numpy().dtype == np.float16
    with pytest.raises(KeyError):
        halves["lm_head.weight"]


@pytest.mark.skipif(not FAKE_CUDA.is_file(), reason="the fake CUDA driver is not built")
def test_load_on_cuda(models):
    weights = wb.load(models / "qwen3-bf16", "cuda", library=FAKE_CUDA)
    array = weights["model.norm.weight"]
    assert array.device == "cuda:0" and array.__dlpack_device__() == (2, 0)
    assert array.__dlpack__(max_version=(1, 1)) and array.__dlpack__(stream=1)
    with pytest.raises(BufferError, match="not in the memory of the process"):
        memoryview(array)
    with pytest.raises(wb.errors.NotFoundError):
        wb.load(models / "qwen3-bf16", "cuda:99", library=FAKE_CUDA)
    with pytest.raises(wb.errors.UnsupportedError):
        wb.load(models / "qwen3-bf16", "cuda", library="/no/such/driver.so")
    with pytest.raises(ValueError, match="no device"):
        wb.load(models / "qwen3-bf16", "tpu")


# ---- agreement with the command ----


@pytest.mark.skipif("WB" not in os.environ, reason="the command is not built")
def test_config_and_metadata_agree_with_the_command(models):
    # The command has the runtime of a sanitizer in itself.
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    for path in sorted(models.iterdir()):
        if not path.is_dir():
            continue
        told = json.loads(subprocess.run([os.environ["WB"], "inspect", "--json", path], check=False,
                                         capture_output=True, env=environment).stdout)
        with wb.open(path) as model:
            for key, value in told["config"].items():
                ours = getattr(model.config, key, None)
                if value not in (None, {}) and not isinstance(value, dict):
                    assert ours == value, (path.name, key)
            assert [row["name"] for row in told["tensors"]] == list(model)
            for row in told["tensors"]:
                tensor = model[row["name"]]
                assert list(tensor.shape) == row["shape"] and tensor.dtype == row["dtype"]
                assert tensor.nbytes == row["bytes"] and tensor.offset == row["offset"]
                assert tensor.encoding.type == row["encoding"]["type"]
