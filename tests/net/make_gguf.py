"""Writes a GGUF file with a large vocabulary: make_gguf.py FILE TOKENS. For the tests of remote headers."""
import random
import struct
import sys


def text(s):
    return struct.pack("<Q", len(s)) + s


def strings(key, items):
    return text(key) + struct.pack("<IIQ", 9, 8, len(items)) + b"".join(map(text, items))


random.seed(1)
n = int(sys.argv[2])
tokens = [("%x" % random.getrandbits(32)).encode()[: random.randint(2, 8)] + b"%d" % i for i in range(n)]
merges = [t[:3] + b" " + t[3:] for t in tokens]
keys = [
    text(b"general.architecture") + struct.pack("<I", 8) + text(b"llama"),
    text(b"llama.block_count") + struct.pack("<II", 4, 1),
    text(b"tokenizer.ggml.model") + struct.pack("<I", 8) + text(b"gpt2"),
    strings(b"tokenizer.ggml.tokens", tokens),
    text(b"tokenizer.ggml.token_type") + struct.pack("<IIQ", 9, 5, n) + struct.pack("<i", 1) * n,
    strings(b"tokenizer.ggml.merges", merges),
]
tensors = [b"token_embd.weight"] + [b"blk.%d.attn_q.weight" % i for i in range(290)]
infos = b"".join(text(t) + struct.pack("<IQQIQ", 2, 32, 4, 0, 512 * i) for i, t in enumerate(tensors))
header = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(keys)) + b"".join(keys) + infos
header += bytes(-len(header) % 32)
with open(sys.argv[1], "wb") as f:
    f.write(header)
    f.write(bytes(512 * len(tensors)))
    f.seek(20 << 20, 1)
    f.write(b"\0")
print(len(header))
