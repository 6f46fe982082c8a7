"""Writes an Ollama store into the current folder: store/manifests, store/blobs.

plain       four tensors in blobs of their own, a config.json
four        int4 of Ollama: weight, scale and bias in one blob
chat        a GGUF file with everything a Modelfile can say
hurt        a manifest that is cut off
lost        a blob is missing
short       a blob is cut off
wrong       a blob whose bytes are others
"""
import hashlib
import json
import os
import struct

import zoo

TEMPLATE = "{{ if .System }}<|system|>\n{{ .System }}<|end|>\n{{ end }}<|user|>\n{{ .Prompt }}<|end|>\n"
SYSTEM = 'You are "brief".'
PARAMS = {"stop": ["<|end|>", "two\nlines", ' "x"'], "temperature": 0.7, "num_ctx": 4096, "num_predict": -1,
          "penalize_newline": True}
MESSAGES = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello\nthere "}]
LICENSES = ["MIT License\n\nfor all \"of\" it\n", "and a second one"]


def blob(data):
    digest = hashlib.sha256(data).hexdigest()
    with open("store/blobs/sha256-" + digest, "wb") as f:
        f.write(data)
    return digest


def layer(kind, data, name=None):
    entry = {"mediaType": "application/vnd.ollama.image." + kind, "digest": "sha256:" + blob(data), "size": len(data)}
    if name is not None:
        entry["name"] = name
    return entry


def manifest(name, layers, config=None, where="registry.ollama.ai/library"):
    text = json.dumps(config or {"model_format": "safetensors", "capabilities": ["completion"]}).encode()
    entry = {"mediaType": "application/vnd.docker.container.image.v1+json", "digest": "sha256:" + blob(text),
             "size": len(text)}
    whole = {"schemaVersion": 2, "mediaType": "application/vnd.docker.distribution.manifest.v2+json", "config": entry,
             "layers": layers}
    folder = "store/manifests/%s/%s" % (where, name)
    os.makedirs(folder)
    with open(folder + "/latest", "w") as f:
        f.write(json.dumps(whole, separators=(",", ":")) + "\n")


def safetensors(tensors, metadata=None):
    zoo.save("blob.tmp", tensors, metadata)
    data = open("blob.tmp", "rb").read()
    os.unlink("blob.tmp")
    return data


def tensor(name, dtype, shape, data):
    return layer("tensor", safetensors([(name, dtype, shape, data)]), name)


def path_of(entry):
    return "store/blobs/" + entry["digest"].replace(":", "-")


INT4 = [[(7 * r + c) % 16 for c in range(128)] for r in range(2)]
SCALES = [[0.5, 0.25], [2.0, 1.0]]
BIASES = [[-4.0, 0.0], [1.0, -8.0]]


def bf16(values):
    return b"".join(struct.pack("<f", v)[2:] for v in values)


def int4():
    words = b"".join(struct.pack("<I", sum(v << 4 * i for i, v in enumerate(row[at:at + 8])))
                     for row in INT4 for at in range(0, 128, 8))
    name = "model.layers.0.mlp.up_proj.weight"
    return safetensors(
        [(name, "U32", [2, 16], words), (name + ".scale", "BF16", [2, 2], bf16(sum(SCALES, []))),
         (name + ".bias", "BF16", [2, 2], bf16(sum(BIASES, [])))], {"quant_type": "int4", "group_size": "64"})


def main():
    os.makedirs("store/blobs")
    plain = [tensor("model.norm.weight", "F32", [4], zoo.floats(1, 2, 3, 4)),
             tensor("model.embed_tokens.weight", "F32", [3, 4], zoo.floats(*range(12))),
             layer("json", b'{"model_type":"llama","hidden_size":4}', "config.json")]
    manifest("plain", plain)
    manifest("plain", plain, where="registry.ollama.ai/someone")
    manifest("four", [layer("tensor", int4(), "model.layers.0.mlp.up_proj.weight")])
    zoo.save_gguf("chat.gguf", [("general.architecture", 8, zoo.string("llama"))],
                  [("output_norm.weight", 0, [4], zoo.floats(1, 2, 3, 4))])
    weights = open("chat.gguf", "rb").read()
    manifest("chat", [layer("model", weights), layer("adapter", weights + b"\0" * 32), layer("projector", b"GGUF"),
                      layer("template", TEMPLATE.encode()), layer("system", SYSTEM.encode()),
                      layer("params", json.dumps(PARAMS).encode()), layer("messages", json.dumps(MESSAGES).encode())] +
             [layer("license", text.encode()) for text in LICENSES],
             {"model_format": "gguf", "renderer": "plain", "parser": "own parser "})
    os.makedirs("store/manifests/registry.ollama.ai/library/hurt")
    with open("store/manifests/registry.ollama.ai/library/hurt/latest", "w") as f:
        f.write('{"schemaVersion":2,"layers":[')
    for name, change in (("lost", os.unlink), ("short", lambda p: os.truncate(p, 100)), ("wrong", flip)):
        entry = tensor("model.norm.weight", "U8", [6], name.encode().ljust(6))
        manifest(name, [entry])
        change(path_of(entry))


def flip(path):
    data = bytearray(open(path, "rb").read())
    data[-1] ^= 1
    with open(path, "wb") as f:
        f.write(data)


if __name__ == "__main__":
    main()
