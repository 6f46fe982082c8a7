"""What weighbridge writes, as the real readers read it, value for value: readers.py WB DATA READER...

    safetensors  shards, and what came back from GGUF and npz, against the source          (safetensors, ml_dtypes)
    gguf         plain and quantized files: values against the source and `wb export`      (gguf, safetensors, ml_dtypes)
    numpy        archives against the source                                               (safetensors, ml_dtypes)
    mlx          folders plain and packed, archives                                        (mlx)
    llama        whole, split, realigned and edited files: the same logits, bit for bit    (llama-cpp-python)

DATA is tests/data. A reader whose packages are missing is skipped with a message. tests/check/readers.sh finds the
environments that `make peers` makes.
"""
import glob
import json
import os
import subprocess
import sys
import tempfile

WB, DATA = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
SOURCE = os.path.join(DATA, "models", "qwen3-bf16")
WITH_TOKENS = os.path.join(DATA, "ollama", "bf16")
DEMO = os.path.join(DATA, "..", "..", "demo", "tiny-pycode")
compared = 0


def wb(*arguments):
    done = subprocess.run([WB, *arguments], capture_output=True)
    assert done.returncode == 0, (arguments, done.returncode, done.stderr.decode())
    return done.stdout


def convert(source, to, *more):
    wb("convert", source, to, *more)
    return to


def same(a, b, what):
    """Shapes, types and bits."""
    global compared
    compared += 1
    assert a.shape == b.shape and a.dtype == b.dtype, (what, a.shape, a.dtype, b.shape, b.dtype)
    assert a.tobytes() == b.tobytes(), what


def exported(path, name, dtype="f32"):
    """What we say the values are, as float32."""
    import numpy as np
    raw = wb("export", path, name, "--dtype", dtype, "--format", "raw", "-o", "-")
    return np.frombuffer(raw, np.float32)


# ---- safetensors, NumPy ----

def read_folder(folder):
    """Every tensor of the files of a folder, by the package; ml_dtypes has what NumPy lacks."""
    import ml_dtypes  # noqa: F401, which makes bfloat16 known
    from safetensors.numpy import load_file
    found = {}
    for path in sorted(glob.glob(os.path.join(folder, "*.safetensors"))):
        for name, array in load_file(path).items():
            assert name not in found, name
            found[name] = array
    index = os.path.join(folder, "model.safetensors.index.json")
    if os.path.exists(index):
        assert sorted(json.load(open(index))["weight_map"]) == sorted(found)
    return found


def same_models(a, b):
    assert sorted(a) == sorted(b), set(a) ^ set(b)
    for name in a:
        same(a[name], b[name], name)


def check_safetensors():
    for source in sorted(glob.glob(os.path.join(DATA, "models", "*", ""))):
        expected = read_folder(source)
        same_models(expected, read_folder(convert(source, tempfile.mkdtemp(dir=".") + "/out", "--to", "safetensors",
                                                  "--max-shard-size", "20K")))
    expected = read_folder(SOURCE)
    convert(SOURCE, "r.gguf", "--to", "gguf")
    same_models(expected, read_folder(convert("r.gguf", "back", "--to", "safetensors")))


def check_numpy():
    import ml_dtypes
    import numpy as np
    expected = read_folder(SOURCE)
    with np.load(convert(SOURCE, "n.npz")) as archive:
        found = {name: archive[name] for name in archive.files}
    same_models(expected, {n: a.view(ml_dtypes.bfloat16) if a.dtype.kind == "V" else a for n, a in found.items()})
    with np.load(convert(SOURCE, "f.npz", "--quant", "F32")) as archive:
        same_models({n: a.astype(np.float32) for n, a in expected.items()}, {n: archive[n] for n in archive.files})
    os.mkdir("npz")
    os.rename("n.npz", "npz/weights.npz")
    with open(os.path.join(SOURCE, "config.json")) as config, open("npz/config.json", "w") as copy:
        copy.write(config.read())
    same_models(expected, read_folder(convert("npz", "again", "--to", "safetensors")))


# ---- gguf ----

def check_gguf():
    import gguf
    import numpy as np
    source = read_folder(WITH_TOKENS)
    config = json.load(open(os.path.join(WITH_TOKENS, "config.json")))
    names = gguf.TensorNameMap(gguf.MODEL_ARCH.QWEN3, config["num_hidden_layers"])
    expected = {names.get_name(name, (".weight", ".bias")): array.astype(np.float32) for name, array in source.items()}
    for quant in "F32", "BF16", "F16", "Q8_0", "Q4_0", "Q5_1", "Q4_K_M", "Q6_K", "IQ4_NL":
        path = convert(WITH_TOKENS, f"{quant}.gguf", "--quant", quant)
        reader = gguf.GGUFReader(path)
        found = {t.name: t for t in reader.tensors}
        assert set(found) <= set(expected) and set(expected) - set(found) <= {"output.weight"}
        for name, tensor in found.items():
            values = gguf.dequantize(tensor.data, tensor.tensor_type) if tensor.tensor_type not in (0, 1) \
                else tensor.data.astype(np.float32)
            same(values.reshape(-1).astype(np.float32), exported(path, name), (quant, name))
            if quant in ("F32", "BF16"):
                same(values.reshape(expected[name].shape).astype(np.float32), expected[name], (quant, name))
        assert reader.get_field("general.architecture").contents() == "qwen3"
        assert len(reader.get_field("tokenizer.ggml.tokens").contents()) == config["vocab_size"]


# ---- mlx ----

def check_mlx():
    import mlx.core as mx
    import numpy as np

    def load(folder):
        found = {}
        for path in sorted(glob.glob(os.path.join(folder, "*.safetensors"))):
            found.update(mx.load(path))
        return found

    def bits(array):
        return np.array(array.view(mx.uint16) if array.dtype in (mx.bfloat16, mx.float16) else array)

    source = load(SOURCE)
    for path, found in (("plain", None), ("a.npz", None)):
        to = convert(SOURCE, path, *(["--to", "mlx"] if path == "plain" else []))
        found = load(to) if path == "plain" else mx.load(to)
        left = set(source) - set(found)
        assert set(found) <= set(source) and left <= {"lm_head.weight"}, left
        for name in found:
            assert found[name].dtype == source[name].dtype
            same(bits(found[name]), bits(source[name]), (path, name))
    for quant, mode, group, width in (("affine4:64", "affine", 64, 4), ("affine3:32", "affine", 32, 3),
                                      ("affine8:64", "affine", 64, 8), ("mxfp4", "mxfp4", 32, 4),
                                      ("mxfp8", "mxfp8", 32, 8), ("nvfp4", "nvfp4", 16, 4)):
        folder = convert(SOURCE, "m-" + quant.replace(":", "-"), "--to", "mlx", "--quant", quant)
        found, packed = load(folder), 0
        said = json.load(open(os.path.join(folder, "config.json")))["quantization"]
        assert (said["group_size"], said["bits"]) == (group, width), said
        for name in found:
            stem = name[:-len(".weight")]
            if not name.endswith(".weight") or stem + ".scales" not in found:
                continue
            parts = [found[name], found[stem + ".scales"], found.get(stem + ".biases")]
            # Theirs of the source, of the same parts in which ours are; the values, and the words.
            theirs = mx.quantize(source[name], group_size=group, bits=width, mode=mode)
            for ours, their in zip(parts, theirs):
                same(bits(ours), bits(their), (quant, name))
            values = mx.dequantize(*parts, group_size=group, bits=width, mode=mode, dtype=mx.bfloat16)
            widened = np.array(values.astype(mx.float32)).reshape(-1)
            raw = wb("export", folder, name, "--dtype", "bf16", "--format", "raw", "-o", "-")
            ours = (np.frombuffer(raw, np.uint16).astype(np.uint32) << 16).view(np.float32)
            same(ours, widened, (quant, name))
            packed += 1
        assert packed > 0, quant


# ---- llama.cpp ----

def check_llama():
    import llama_cpp as L
    import llama_peer
    import numpy as np
    L.llama_backend_init()
    quiet = L.llama_log_callback(lambda level, text, user: None)
    L.llama_log_set(quiet, None)

    def open_model(path):
        params = L.llama_model_default_params()
        params.n_gpu_layers = 0
        model = L.llama_model_load_from_file(path.encode(), params)
        assert model, path
        return model

    def logits(path, ids=tuple(range(3, 35))):
        model = open_model(path)
        params = L.llama_context_default_params()
        params.n_ctx = params.n_batch = params.n_ubatch = len(ids) + 8
        params.n_threads = params.n_threads_batch = 1
        got = llama_peer.logits(L, model, params, ids)
        assert np.isfinite(got).all()
        return got

    for quant in "F32", "BF16", "Q8_0", "Q4_K_M":
        whole = convert(DEMO, "whole.gguf", "--quant", quant)
        expected = logits(whole)
        os.makedirs("parts", exist_ok=True)
        convert(whole, "parts/m.gguf", "--max-shard-tensors", "10")
        first = sorted(glob.glob("parts/*.gguf"))[0]
        same(logits(first), expected, (quant, "split"))
        same(logits(convert(first, "merged.gguf")), expected, (quant, "merged"))
        for path in glob.glob("parts/*"):
            os.unlink(path)
        wb("realign", "merged.gguf", "--alignment", "4096")
        same(logits("merged.gguf"), expected, (quant, "realigned"))
        wb("edit", "merged.gguf", "--in-place", "--set", "general.name=" + "long " * 2000, "--set",
           'general.tags=["a","b"]', "--set", "x.y=u64[]:[1,2]")
        same(logits("merged.gguf"), expected, (quant, "edited"))


READERS = {"safetensors": check_safetensors, "gguf": check_gguf, "numpy": check_numpy, "mlx": check_mlx,
           "llama": check_llama}


def main():
    global compared
    for reader in sys.argv[3:]:
        compared = 0
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                READERS[reader]()
            except ModuleNotFoundError as missing:
                print(f"{reader}: skipped, {missing.name} is not installed")
                continue
            finally:
                os.chdir("/")
        assert compared > 0
        print(f"{reader}: {compared} arrays equal, bit for bit")


main()
