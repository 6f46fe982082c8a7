"""Which factors of NVFP4 the real llama.cpp multiplies with: llama_factors.py WB MODELS...

For every matrix of the first layer, and those of no layer, of a folder of MODELS: a GGUF file that has NAME.scale = 0.5
against one whose weights are half as large. "multiplied": the same logits; "ignored": those without a factor; "refused":
the file does not load. The output is made NVFP4, since it has a factor only then.

src/convert/plan/global_scales.c goes by what this says. Needs llama-cpp-python, numpy and gguf; run by hand.
"""
import ctypes, os, subprocess, sys, tempfile
import gguf
import llama_cpp as L
import llama_peer
import numpy as np

HALF = np.float32(0.5)


@ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)
def quiet(level, text, ctx):
    pass


def copy(source, target, halved=None, factor_of=None):
    reader = gguf.GGUFReader(source)
    fields = {f.name: f for f in reader.fields.values() if not f.name.startswith("GGUF.")}
    writer = gguf.GGUFWriter(target, fields.pop("general.architecture").contents())
    for name, field in fields.items():
        if field.types[0] == gguf.GGUFValueType.ARRAY:
            writer.add_array(name, field.contents())
        else:
            writer.add_key_value(name, field.contents(), field.types[0])
    for tensor in reader.tensors:
        data = np.array(tensor.data)
        writer.add_tensor(tensor.name, data * HALF if tensor.name == halved else data,
                          raw_dtype=None if data.dtype == np.float32 else tensor.tensor_type)
        if tensor.name == factor_of:
            count = int(tensor.shape[2]) if len(tensor.shape) == 3 else 1
            writer.add_tensor(tensor.name.replace(".weight", ".scale"), np.full(count, HALF, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def logits(path, pooled):
    params = L.llama_model_default_params()
    params.n_gpu_layers, params.use_mmap = 0, False
    model = L.llama_model_load_from_file(path.encode(), params)
    if not model:
        return None
    params = L.llama_context_default_params()
    params.n_ctx = params.n_batch = params.n_ubatch = 48
    params.type_k = params.type_v = 0  # F32
    params.n_threads = params.n_threads_batch = 1
    width, read = L.llama_model_n_embd(model), None
    if hasattr(params, "flash_attn_type"):
        params.flash_attn_type = 0
    if pooled:
        params.embeddings, params.pooling_type = True, 1

        def read(context):
            return np.ctypeslib.as_array(L.llama_get_embeddings_seq(context, 0), shape=(width,)).copy()
    return llama_peer.logits(L, model, params, list(range(5, 25)), read)


def verdict(got, plain, halved):
    if got is None:
        return "refused"
    off = np.linalg.norm(got - halved) / np.linalg.norm(halved)
    if np.linalg.norm(plain - halved) <= 1e-7 * np.linalg.norm(halved):
        return "makes no difference here"
    return "multiplied" if off <= 1e-6 else "ignored" if np.array_equal(got, plain) else f"something else: {off:.2g}"


def check(wb, folder, scratch):
    pooled = "bert" in open(folder + "/config.json").read().lower()
    base, factor, half = (f"{scratch}/{name}.gguf" for name in ("base", "factor", "half"))
    subprocess.run([wb, "convert", folder, base, "--quant", "F32", "--rule", "^output.weight$=NVFP4"], check=True,
                   stdout=subprocess.DEVNULL)
    plain = logits(base, pooled)
    for tensor in gguf.GGUFReader(base).tensors:
        name = tensor.name
        if len(tensor.shape) < 2 or (name.startswith("blk.") and not name.startswith("blk.0.")):
            continue
        copy(base, factor, factor_of=name)
        if name == "output.weight":
            halved = plain * HALF
        else:
            copy(base, half, halved=name)
            halved = logits(half, pooled)
        print(os.path.basename(folder), name, verdict(logits(factor, pooled), plain, halved), flush=True)


L.llama_log_set(quiet, None)
for model in sys.argv[2:]:
    with tempfile.TemporaryDirectory() as scratch:
        check(os.path.abspath(sys.argv[1]), model, scratch)
