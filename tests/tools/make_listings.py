"""Writes tests/data/listings: what real models hold, without their weights.

    make_listings.py MODELS STORE

MODELS is a folder of model folders as mlx-lm and Hugging Face write them, STORE an Ollama store. Of
each safetensors file the header is kept (the test makes a sparse file of it), of everything else that
opening looks at the whole file. expected.tsv is an independent reading: by the rules of the writers,
with nothing but Python's json and struct.
"""
import json
import os
import struct
import sys

BITS = {"BOOL": 8, "U8": 8, "I8": 8, "F16": 16, "BF16": 16, "I32": 32, "U32": 32, "F32": 32, "I64": 64}
MODES = {"affine": (4, 64), "mxfp4": (4, 32), "mxfp8": (8, 32), "nvfp4": (4, 16)}
here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "listings")


def header_of(path):
    with open(path, "rb") as f:
        n = struct.unpack("<Q", f.read(8))[0]
        raw = f.read(n)
    return raw, json.loads(raw)


def keep_header(source, target):
    raw, header = header_of(source)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "wb") as f:
        f.write(struct.pack("<Q", os.path.getsize(source)))
        f.write(struct.pack("<Q", len(raw)) + raw)
    return header


def keep(source, target):
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(source, "rb") as f, open(target, "wb") as g:
        g.write(f.read())


def size_of(tensor):
    return tensor["data_offsets"][1] - tensor["data_offsets"][0]


def product(shape):
    n = 1
    for d in shape:
        n *= d
    return n


def row(name, tensor, shape, encoding, bits, group, nbytes):
    return [name, tensor["dtype"], ",".join(map(str, shape)), encoding, bits, group, nbytes, product(shape)]


def plain(name, t):
    return row(name, t, t["shape"], "plain", BITS[t["dtype"]], 0, size_of(t))


def list_mlx(tensors, config):
    quantization = config.get("quantization")
    for name, t in tensors.items():
        base = name.rsplit(".", 1)[0]
        if name.endswith((".scales", ".biases")) and base + ".weight" in tensors and base + ".scales" in tensors:
            continue
        scales = tensors.get(base + ".scales") if name.endswith(".weight") else None
        if scales is None:
            yield plain(name, t)
            continue
        entry = quantization.get(base, quantization)
        mode = entry.get("mode") or "affine"
        bits = entry.get("bits") or MODES[mode][0]
        inputs = t["shape"][-1] * 32 // bits
        group = inputs // scales["shape"][-1]
        assert group == (entry.get("group_size") or MODES[mode][1]), name
        biases = tensors.get(base + ".biases")
        assert (biases is not None) == (mode == "affine"), name
        nbytes = size_of(t) + size_of(scales) + (size_of(biases) if biases else 0)
        yield row(name, t, t["shape"][:-1] + [inputs], mode, bits, group, nbytes)


def list_blob(header):
    about = header.get("__metadata__") or {}
    tensors = {k: v for k, v in header.items() if k != "__metadata__"}
    for name, t in tensors.items():
        base = name.rsplit(".", 1)[0]
        if name.endswith((".scale", ".bias")) and base in tensors and base + ".scale" in tensors:
            continue
        scales = tensors.get(name + ".scale")
        if scales is None:
            yield plain(name, t)
            continue
        kind = about["quant_type"]
        group = int(about["group_size"])
        inputs = scales["shape"][-1] * group
        bits = t["shape"][-1] * 32 // inputs
        nbytes = sum(size_of(tensors[n]) for n in (name, name + ".scale", name + ".bias") if n in tensors)
        yield row(name, t, t["shape"][:-1] + [inputs], kind, bits, group, nbytes)


def main(models, store):
    out = open(os.path.join(here, "expected.tsv"), "w")
    out.write("model\tname\tdtype\tshape\tencoding\tbits\tgroup\tbytes\tparameters\n")

    def write(model, rows):
        for r in sorted(rows, key=lambda r: r[0]):
            out.write("\t".join(map(str, [model] + r)) + "\n")

    for model in sorted(os.listdir(models)):
        folder = os.path.join(models, model)
        files = [f for f in os.listdir(folder) if f.endswith(".safetensors")]
        if not files:
            continue
        target = os.path.join(here, "models", model)
        tensors = {}
        for f in sorted(files):
            header = keep_header(os.path.join(folder, f), os.path.join(target, f + ".header"))
            tensors.update({k: v for k, v in header.items() if k != "__metadata__"})
        for f in os.listdir(folder):
            if f in ("config.json", "model.safetensors.index.json"):
                keep(os.path.join(folder, f), os.path.join(target, f))
        config = json.load(open(os.path.join(folder, "config.json")))
        write("models/" + model, list_mlx(tensors, config))

    library = os.path.join(store, "manifests", "registry.ollama.ai", "library")
    for model in sorted(os.listdir(library)):
        source = os.path.join(library, model, "latest")
        keep(source, os.path.join(here, "store", "manifests", "registry.ollama.ai", "library", model, "latest"))
        manifest = json.load(open(source))
        rows, seen = [], set()
        for layer in manifest["layers"] + [manifest["config"]]:
            blob = layer["digest"].replace(":", "-")
            path = os.path.join(store, "blobs", blob)
            target = os.path.join(here, "store", "blobs", blob)
            if layer["mediaType"].endswith(".tensor"):
                if blob not in seen:
                    rows += list_blob(keep_header(path, target + ".header"))
            else:
                keep(path, target)
            seen.add(blob)
        write("ollama://" + model, rows)


main(*sys.argv[1:])
