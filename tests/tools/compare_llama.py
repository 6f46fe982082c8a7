"""What wb convert makes, in the eyes of the real llama.cpp: compare_llama.py WB COMMAND MODELS...

    logits      logits of 40 tokens against MODELS/../logits/NAME.f32.npy, as F32 and F16, KV cache F32
    tokens      ids of a text against the tokenizers or sentencepiece package
    quantize    tensor infos, data and keys against llama_model_quantize, type after type
    perplexity  of MODEL/heldout.txt in every type, with size and the relative L2 of the logits

Needs llama-cpp-python, numpy, gguf, tokenizers and sentencepiece; a folder of models each MODELS is.
Run by hand: a virtual environment with these packages takes ten minutes, since llama.cpp is built in it.
"""
import ctypes, math, os, subprocess, sys, tempfile
import llama_cpp as L
import numpy as np
import llama_peer

WB = os.path.abspath(sys.argv[1])
FILE_TYPES = {"F16": 1, "Q4_0": 2, "Q4_1": 3, "Q8_0": 7, "Q5_0": 8, "Q5_1": 9, "Q2_K": 10, "Q3_K_S": 11,
              "Q3_K_M": 12, "Q3_K_L": 13, "Q4_K_S": 14, "Q4_K_M": 15, "Q5_K_S": 16, "Q5_K_M": 17, "Q6_K": 18,
              "IQ4_NL": 25, "IQ3_S": 26, "IQ3_M": 27, "IQ4_XS": 30, "BF16": 32, "TQ1_0": 36, "TQ2_0": 37,
              "MXFP4_MOE": 38}
faults = 0


def convert(model, out, quant=None):
    subprocess.run([WB, "convert", model, out] + (["--quant", quant] if quant else []), check=True,
                   stdout=subprocess.DEVNULL)


def load(path, vocab_only=False):
    params = L.llama_model_default_params()
    params.n_gpu_layers, params.use_mmap, params.vocab_only = 0, False, vocab_only
    model = L.llama_model_load_from_file(path.encode(), params)
    assert model, path
    return model


def logits(path, ids):
    model = load(path)
    params = L.llama_context_default_params()
    params.n_ctx = params.n_batch = params.n_ubatch = len(ids) + 8
    params.type_k = params.type_v = 0  # F32
    params.n_threads = params.n_threads_batch = 1
    if hasattr(params, "flash_attn_type"):
        params.flash_attn_type = 0
    return llama_peer.logits(L, model, params, ids)


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


def check_logits(model, scratch):
    name, beside = os.path.basename(model), os.path.join(os.path.dirname(model), "logits")
    if not os.path.exists(f"{beside}/{name}.f32.npy") or name == "bert":
        return
    ids, want = np.load(f"{beside}/tokens.npy").tolist(), np.load(f"{beside}/{name}.f32.npy")
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


def check_quantize(model, scratch):
    from gguf import GGUFReader
    plain, ours, theirs = scratch + "/p.gguf", scratch + "/o.gguf", scratch + "/t.gguf"
    convert(model, plain)
    for quant, number in FILE_TYPES.items():
        params = L.llama_model_quantize_default_params()
        params.ftype, params.nthread = number, 1
        if L.llama_model_quantize(plain.encode(), theirs.encode(), ctypes.byref(params)) != 0:
            print(f"{os.path.basename(model):28s} {quant:10s} llama.cpp refuses", flush=True)
            continue
        convert(model, ours, quant)
        a, b = GGUFReader(ours), GGUFReader(theirs)
        infos = [[(t.name, t.tensor_type, tuple(t.shape)) for t in r.tensors] for r in (a, b)]
        same = infos[0] == infos[1] and all(np.array_equal(x.data, y.data) for x, y in zip(a.tensors, b.tensors))
        keys = [{k: (f.types, [bytes(p) for p in f.parts[3:]]) for k, f in r.fields.items()
                 if not k.startswith(("GGUF.", "quantize.imatrix."))} for r in (a, b)]
        say(same and keys[0] == keys[1], f"{os.path.basename(model):28s} {quant:10s} {len(infos[0])} tensors")


def check_perplexity(model, scratch):
    out = scratch + "/m.gguf"
    convert(model, out, "F32")
    ids = tokenize(out, open(model + "/heldout.txt").read())[:2048]
    rows = [ids[i:i + 256] for i in range(0, len(ids) - 255, 256)]
    exact = [logits(out, row).astype(np.float64) for row in rows]
    for quant in ["F32"] + list(FILE_TYPES):
        convert(model, out, quant)
        loss, off = [], []
        for row, want in zip(rows, exact):
            got = logits(out, row).astype(np.float64)
            top = got.max(axis=1, keepdims=True)
            logs = got - top - np.log(np.exp(got - top).sum(axis=1, keepdims=True))
            loss += [-logs[i, t] for i, t in enumerate(row[1:])]
            off.append(distance(got, want))
        print(f"| {quant} | {os.path.getsize(out) / 2**20:.2f} | {math.exp(np.mean(loss)):.4f} | {np.mean(off):.2e} |",
              flush=True)


CHECKS = {"logits": check_logits, "tokens": check_tokens, "quantize": check_quantize, "perplexity": check_perplexity}
L.llama_backend_init()
with tempfile.TemporaryDirectory() as folder:
    for path in sys.argv[3:]:
        CHECKS[sys.argv[2]](path.rstrip("/"), folder)
sys.exit(faults > 0)
