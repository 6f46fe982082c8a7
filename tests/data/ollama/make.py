#!/usr/bin/env python3
"""Makes expected.tsv: what the real Ollama (fb3076099, August 2026) made of the folders here by
`ollama create --experimental`. make.py STORE, which has the models c-bf16, c-bf16-int4, c-bf16-nvfp4 of bf16/,
c-moe-int4 of moe-bf16/, and c-f32 and c-mlx-int4 of what bf16/ becomes as F32 and in MLX's four bits, but for its
embeddings.

Columns: model, layer, its metadata, tensor, dtype, shape, SHA-256 of the bytes; and for layers whose file is to
be the same to the last byte (all but those that MLX wrote) a line with the digest of the file.
"""
import hashlib
import json
import os
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def read(store, model):
    path = os.path.join(store, "manifests/registry.ollama.ai/library", model, "latest")
    manifest = json.load(open(path))
    for layer in manifest["layers"] + [dict(manifest["config"], name="config")]:
        data = open(os.path.join(store, "blobs", layer["digest"].replace(":", "-")), "rb").read()
        name, metadata, header = layer.get("name", ""), "", {}
        if layer["mediaType"].endswith(".tensor"):
            n, = struct.unpack("<Q", data[:8])
            header = json.loads(data[8:8 + n])
            metadata = json.dumps(header.pop("__metadata__", None) or {}, sort_keys=True)
        for tensor, t in sorted(header.items()):
            begin, end = t["data_offsets"]
            yield [model, name, metadata, tensor, t["dtype"], "x".join(map(str, t["shape"])),
                   hashlib.sha256(data[8 + n + begin:8 + n + end]).hexdigest()]
        if metadata in ("", "{}"):
            yield [model, name, "whole", "", "", "", layer["digest"]]


def rows(store, models):
    return ["\t".join(row) for model in models for row in read(store, model)]


if __name__ == "__main__":
    with open(os.path.join(HERE, "expected.tsv"), "w", newline="\n") as out:
        for row in rows(sys.argv[1], ["c-bf16", "c-bf16-int4", "c-bf16-nvfp4", "c-moe-int4", "c-f32",
                                  "c-mlx-int4"]):
            out.write(row + "\n")
