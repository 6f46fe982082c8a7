"""What wb convert makes, in the eyes of the real llama.cpp: compare_llama.py WB COMMAND MODELS...

    logits      logits of 40 tokens against MODELS/../logits/NAME.f32.npy, as F32 and F16, KV cache F32
    tokens      ids of a text against the tokenizers or sentencepiece package
    quantize    tensor infos, data and keys against llama_model_quantize, type after type; types that it
                makes with an importance matrix alone, with that of a text
    perplexity  of MODEL/heldout.txt in every type, with size, NMSE of the weights and relative L2 of the logits

The text of the matrix is that of Python's module argparse.

Needs llama-cpp-python, numpy, gguf, tokenizers and sentencepiece; a folder of models each MODELS is.
Run by hand: a virtual environment with these packages takes ten minutes, since llama.cpp is built in it.
"""
import argparse, ctypes, json, math, os, subprocess, sys, tempfile
import llama_cpp as L
import numpy as np
import importance, llama_peer

WB = os.path.abspath(sys.argv[1])
FILE_TYPES = {"F16": 1, "Q4_0": 2, "Q4_1": 3, "Q8_0": 7, "Q5_0": 8, "Q5_1": 9, "Q2_K": 10, "Q3_K_S": 11,
              "Q3_K_M": 12, "Q3_K_L": 13, "Q4_K_S": 14, "Q4_K_M": 15, "Q5_K_S": 16, "Q5_K_M": 17, "Q6_K": 18,
              "IQ2_XXS": 19, "IQ2_XS": 20, "Q2_K_S": 21, "IQ3_XS": 22, "IQ3_XXS": 23, "IQ1_S": 24, "IQ4_NL": 25, "IQ3_S": 26,
              "IQ3_M": 27, "IQ2_S": 28, "IQ2_M": 29, "IQ4_XS": 30, "IQ1_M": 31, "BF16": 32, "TQ1_0": 36, "TQ2_0": 37,
              "MXFP4_MOE": 38, "Q1_0": 40, "Q2_0": 41}
NEED_MATRIX = {"IQ2_XXS", "IQ2_XS", "Q2_K_S", "IQ3_XS", "IQ3_XXS", "IQ1_S", "IQ2_S", "IQ2_M", "IQ1_M"}
faults = 0


def convert(model, out, quant=None, matrix=None):
    """Returns what it reports."""
    more = (["--quant", quant] if quant else []) + (["--imatrix", matrix] if matrix else [])
    done = subprocess.run([WB, "convert", model, out, "--json", *more], check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def load(path, vocab_only=False):
    params = L.llama_model_default_params()
    params.n_gpu_layers, params.use_mmap, params.vocab_only = 0, False, vocab_only
    model = L.llama_model_load_from_file(path.encode(), params)
    assert model, path
    return model


def logits(path, ids, pooling=None):
    """Of each token; or with a way of pooling (0: none, 1: mean, 2: the first) what BERT makes of them."""
    model = load(path)
    params = L.llama_context_default_params()
    if pooling is not None:
        params.embeddings, params.pooling_type = True, pooling
    width = L.llama_model_n_embd(model)

    def states(context):
        at = [L.llama_get_embeddings_seq(context, 0)] if pooling else \
            [L.llama_get_embeddings_ith(context, i) for i in range(len(ids))]
        return np.stack([np.ctypeslib.as_array(a, shape=(width,)).copy() for a in at])
    params.n_ctx = params.n_batch = params.n_ubatch = len(ids) + 8
    params.type_k = params.type_v = 0  # F32
    params.n_threads = params.n_threads_batch = 1
    if hasattr(params, "flash_attn_type"):
        params.flash_attn_type = 0
    return llama_peer.logits(L, model, params, ids, None if pooling is None else states)


def tokenize(path, text):
    model = load(path, vocab_only=True)
    data = text.encode()
    ids = (L.llama_token * (len(data) + 16))()
    n = L.llama_tokenize(L.llama_model_get_vocab(model), data, len(data), ids, len(ids), False, True)
    L.llama_model_free(model)
    return list(ids[:n])


def distance(got, want):
    return np.linalg.norm(got - want) / np.linalg.norm(want)


def say(fine, *words):
    global faults
    faults += not fine
    print(*words, "" if fine else "WRONG", flush=True)


def check_bert(model, scratch, beside, ids):
    for quant, most in ("F32", 1e-3), ("F16", 1e-2):
        convert(model, scratch + "/m.gguf", quant)
        for pooling, name in enumerate(("f32", "mean", "cls")):
            want = np.load(f"{beside}/bert.{name}.npy")
            off = distance(logits(scratch + "/m.gguf", ids, pooling).reshape(want.shape), want)
            say(off < most, f"{'bert ' + name:28s} {quant} {off:.2e}")


def check_logits(model, scratch):
    name, beside = os.path.basename(model), os.path.join(os.path.dirname(model), "logits")
    if not os.path.exists(f"{beside}/{name}.f32.npy"):
        return
    ids, want = np.load(f"{beside}/tokens.npy").tolist(), np.load(f"{beside}/{name}.f32.npy")
    if name == "bert":
        return check_bert(model, scratch, beside, ids)
    for quant, most in ("F32", 1e-3 if "gemma" in name else 1e-4), ("F16", 1e-2):
        convert(model, scratch + "/m.gguf", quant)
        off = distance(logits(scratch + "/m.gguf", ids), want)
        say(off < most, f"{name:28s} {quant} {off:.2e}")


def check_tokens(model, scratch):
    from sentencepiece import SentencePieceProcessor
    from tokenizers import Tokenizer
    name, text = os.path.basename(model), open(os.path.join(os.path.dirname(model), "tiny-pycode/heldout.txt")).read()
    text += "\nHéllo wörld — 12345 ünïcode 東京 🙂\t\ttabs  spaces\n\n\nEnd."
    if os.path.exists(model + "/tokenizer.json"):
        want = Tokenizer.from_file(model + "/tokenizer.json").encode(text, add_special_tokens=False).ids
    elif os.path.exists(model + "/tokenizer.model"):
        want = SentencePieceProcessor(model_file=model + "/tokenizer.model").encode(text)
    else:
        return
    convert(model, scratch + "/m.gguf")
    say(tokenize(scratch + "/m.gguf", text) == want, f"{name:28s} {len(want)} tokens")


def gather_matrix(model, scratch, windows=64):
    """The importance matrix of a model, also as a file."""
    plain, path = scratch + "/f.gguf", scratch + "/matrix.gguf"
    convert(model, plain, "F32")
    ids = tokenize(plain, open(argparse.__file__).read())[:windows * importance.WINDOW]
    matrix = importance.gather(load, plain, ids)
    importance.write(path, matrix)
    return matrix, path


def compare_files(ours, theirs, title):
    """Infos, keys and data. Of IQ1_M, which ggml from 0.25 on searches otherwise, a thousandth of the bytes may differ."""
    from gguf import GGUFReader
    try:
        a, b = GGUFReader(ours), GGUFReader(theirs)
    except ValueError:  # a type that gguf-py does not know
        return subprocess.run([WB, "diff", ours, theirs], stdout=subprocess.DEVNULL).returncode == 0, \
            f"{title} as wb diff has it"
    infos = [[(t.name, t.tensor_type.name, tuple(t.shape)) for t in r.tensors] for r in (a, b)]
    keys = [{k: (f.types, [bytes(p) for p in f.parts[3:]]) for k, f in r.fields.items()
             if not k.startswith(("GGUF.", "quantize.imatrix."))} for r in (a, b)]
    if infos[0] != infos[1] or keys[0] != keys[1]:
        return False, title
    apart = {"others": 0, "IQ1_M": 0}
    for x, y in zip(a.tensors, b.tensors):
        kind = "IQ1_M" if x.tensor_type.name == "IQ1_M" else "others"
        apart[kind] += np.count_nonzero(np.asarray(x.data).view(np.uint8) != np.asarray(y.data).view(np.uint8))
    some = f", {apart['IQ1_M']} bytes of IQ1_M otherwise" if apart["IQ1_M"] else ""
    return not apart["others"] and apart["IQ1_M"] * 1000 < os.path.getsize(ours), \
        f"{title} {len(infos[0])} tensors{some}"


def check_quantize(model, scratch):
    plain, ours, theirs = scratch + "/p.gguf", scratch + "/o.gguf", scratch + "/t.gguf"
    convert(model, plain)
    matrix, path = gather_matrix(model, scratch, 4)
    entries, names = importance.as_parameter(matrix)
    for quant, number in FILE_TYPES.items():
        params = L.llama_model_quantize_default_params()
        params.ftype, params.nthread = number, 1
        if quant in NEED_MATRIX:
            params.imatrix = entries
        if L.llama_model_quantize(plain.encode(), theirs.encode(), ctypes.byref(params)) != 0:
            print(f"{os.path.basename(model):28s} {quant:10s} llama.cpp refuses", flush=True)
            continue
        convert(model, ours, quant, path if quant in NEED_MATRIX else None)
        say(*compare_files(ours, theirs, f"{os.path.basename(model):28s} {quant:10s}"))


def error_of(report, squares):
    """The squared error of all tensors of a report, relative to the squares of their values."""
    return sum(t["nmse"] * squares[t["name"]] for t in report["tensors"]) / sum(squares.values())


def check_perplexity(model, scratch):
    from gguf import GGUFReader
    out = scratch + "/m.gguf"
    matrix = gather_matrix(model, scratch)[1]
    convert(model, out, "F32")
    squares = {t.name: float((t.data.astype(np.float64) ** 2).sum()) for t in GGUFReader(out).tensors}
    ids = tokenize(out, open(model + "/heldout.txt").read())[:2048]
    rows = [ids[i:i + 256] for i in range(0, len(ids) - 255, 256)]
    exact = [logits(out, row).astype(np.float64) for row in rows]
    for quant in ["F32"] + list(FILE_TYPES):
        report = convert(model, out, quant, matrix if quant in NEED_MATRIX else None)
        loss, off = [], []
        for row, want in zip(rows, exact):
            got = logits(out, row).astype(np.float64)
            top = got.max(axis=1, keepdims=True)
            logs = got - top - np.log(np.exp(got - top).sum(axis=1, keepdims=True))
            loss += [-logs[i, t] for i, t in enumerate(row[1:])]
            off.append(distance(got, want))
        print(f"| {quant} | {os.path.getsize(out) / 2**20:.2f} | {math.exp(np.mean(loss)):.4f} "
              f"| {error_of(report, squares):.2e} | {np.mean(off):.2e} |", flush=True)


CHECKS = {"logits": check_logits, "tokens": check_tokens, "quantize": check_quantize, "perplexity": check_perplexity}
L.llama_backend_init()
with tempfile.TemporaryDirectory() as folder:
    for path in sys.argv[3:]:
        CHECKS[sys.argv[2]](path.rstrip("/"), folder)
sys.exit(faults > 0)
