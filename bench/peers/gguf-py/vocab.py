"""The GGUF file of the cases open.gguf.vocab: a small model with the vocabulary of a large one.

151,665 tokens and 151,387 merges, whose letters and lengths come from numpy's generator with seed 7,
700 small tensors of F32. The same bytes always, as far as numpy keeps its streams (it has so far).
"""

import os
import struct

import numpy

TOKENS, MERGES, TENSORS = 151665, 151387, 700
U32, I32, F32, STRING, ARRAY = 4, 5, 6, 8, 9
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789\u0120"


def draw_words(rng, count):
    """Words of 1 to 24 letters, lower case and the mark of a space more often than others."""
    odds = numpy.repeat([8.0, 2.0, 1.0, 14.0], [26, 26, 10, 1])
    lengths = numpy.clip(rng.gamma(6.0, 1.05, size=count).astype(int) + 1, 1, 24)
    steps = numpy.cumsum(odds / odds.sum())
    drawn = numpy.searchsorted(steps / steps[-1], rng.random(int(lengths.sum())), side="right")
    text = numpy.array(list(LETTERS))[drawn]
    ends = numpy.cumsum(lengths)
    return ["".join(text[end - length : end]) for end, length in zip(ends, lengths)]


def first_half(word):
    return word[: max(1, len(word) // 2)]


def string(text):
    raw = text.encode()
    return struct.pack("<Q", len(raw)) + raw


def pair(key, kind, value):
    return string(key) + struct.pack("<I", kind) + value


def number(key, value):
    if isinstance(value, float):
        return pair(key, F32, struct.pack("<f", value))
    return pair(key, U32, struct.pack("<I", value))


def array(key, kind, count, elements):
    return pair(key, ARRAY, struct.pack("<IQ", kind, count) + elements)


def pairs(tokens, merges):
    vocabulary = "tokenizer.ggml."
    return [
        pair("general.architecture", STRING, string("qwen2")),
        pair("general.name", STRING, string("bench")),
        number("qwen2.block_count", 28),
        number("qwen2.context_length", 32768),
        number("qwen2.embedding_length", 32),
        number("qwen2.feed_forward_length", 128),
        number("qwen2.attention.head_count", 4),
        number("qwen2.attention.head_count_kv", 2),
        number("qwen2.attention.layer_norm_rms_epsilon", 1e-6),
        number("general.file_type", 0),
        pair(vocabulary + "model", STRING, string("gpt2")),
        pair(vocabulary + "pre", STRING, string("qwen2")),
        array(vocabulary + "tokens", STRING, len(tokens), b"".join(map(string, tokens))),
        array(vocabulary + "token_type", I32, len(tokens), struct.pack("<i", 1) * len(tokens)),
        array(vocabulary + "merges", STRING, len(merges), b"".join(map(string, merges))),
        number(vocabulary + "bos_token_id", 1),
        number(vocabulary + "eos_token_id", 2),
        pair("tokenizer.chat_template", STRING,
             string("{% for m in messages %}" + "x" * 3000 + "{% endfor %}")),
    ]


def infos(columns, rows):
    for i in range(TENSORS):
        name = string(f"blk.{i // 12}.t{i % 12}_weights.weight")
        yield name + struct.pack("<IQQIQ", 2, columns, rows, 0, i * columns * rows * 4)


def write(path):
    rng = numpy.random.default_rng(7)
    words = draw_words(rng, TOKENS + 2 * MERGES)
    pieces = [first_half(word) for word in words[TOKENS:]]
    merges = [left + " " + right for left, right in zip(pieces[::2], pieces[1::2])]
    metadata = pairs(words[:TOKENS], merges)
    header = b"GGUF" + struct.pack("<IQQ", 3, TENSORS, len(metadata))
    header += b"".join(metadata) + b"".join(infos(32, 4))
    data = rng.standard_normal((TENSORS, 4, 32)).astype("<f4")
    with open(path, "wb") as file:
        file.write(header + bytes(-len(header) % 32) + data.tobytes())
        file.flush()
        os.fsync(file.fileno())  # lest writing it back disturbs what is measured
