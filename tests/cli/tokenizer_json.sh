# A tokenizer.json made from a GGUF file, checked against the rules by which the tokenizers library assigns ids:
# every token keeps its id.
PYTHONPATH=$SOURCE/tests/cli python3 -B - <<'P'
import json, os, shutil, struct, subprocess

NORMAL, UNKNOWN, CONTROL, USER, UNUSED, BYTE = 1, 2, 3, 4, 5, 6

def string(text):
    data = text if isinstance(text, bytes) else text.encode()
    return struct.pack("<Q", len(data)) + data

def strings(texts):
    return 9, struct.pack("<IQ", 8, len(texts)) + b"".join(map(string, texts))

def gguf(path, model, tokens, merges=None, scores=None, **more):
    """tokens: (text, type)"""
    t = "tokenizer.ggml."
    values = {"general.architecture": (8, string("llama")), t + "model": (8, string(model)),
              t + "tokens": strings([text for text, _ in tokens]),
              t + "token_type": (9, struct.pack("<IQ", 5, len(tokens)) +
                                 b"".join(struct.pack("<i", kind) for _, kind in tokens))}
    if merges is not None:
        values[t + "merges"] = strings(merges)
    if scores is not None:
        values[t + "scores"] = 9, struct.pack("<IQ%df" % len(scores), 6, len(scores), *scores)
    for key, value in more.items():
        values[t + key] = (4, struct.pack("<I", value)) if isinstance(value, int) else (8, string(value))
    out = b"GGUF" + struct.pack("<IQQ", 3, 1, len(values))
    for key, (kind, raw) in values.items():
        out += string(key) + struct.pack("<I", kind) + raw
    out += string("output_norm.weight") + struct.pack("<IQIQ", 1, 8, 0, 0)
    open(path, "wb").write(out + bytes(-len(out) % 32 + 32))

def back(*args, **kwargs):
    """What is said of the way to a folder, and the tokenizer.json there."""
    gguf("m.gguf", *args, **kwargs)
    shutil.rmtree("made", ignore_errors=True)
    p = subprocess.run(["wb", "convert", "m.gguf", "made", "--to", "safetensors", "--json"], capture_output=True)
    assert p.returncode == 0, p
    said = [(f["severity"], f["name"]) for f in json.loads(p.stdout)["findings"]]
    return said, json.load(open("made/tokenizer.json"))

# Added tokens can have any id; each is also in the vocabulary with its id.
tokens = [("<|pad|>", CONTROL), ("a", NORMAL), ("b", NORMAL), ("Ġ", NORMAL), ("ĠĠ", USER), ("ab", NORMAL),
          ("[PAD6]", UNUSED), ("<|end|>", CONTROL), ("c", NORMAL), ("ac", UNUSED)]
said, made = back("gpt2", tokens, ["Ġ Ġ", "a b", "a c", "b x", "x b", "b a", "b", "b c"], pre="gpt-2")
vocab = made["model"]["vocab"]
assert vocab == {text: i for i, (text, kind) in enumerate(tokens) if kind != UNUSED}, vocab
assert {t["content"]: t["id"] for t in made["added_tokens"]} == {"<|pad|>": 0, "ĠĠ": 4, "<|end|>": 7}
assert [t["special"] for t in made["added_tokens"]] == [True, False, True]
# Both parts and the result of a merge are tokens; otherwise the tokenizers library would refuse the file.
assert made["model"]["merges"] == [["Ġ", "Ġ"], ["a", "b"]], made["model"]["merges"]
assert said == [("warning", "tokenizer.ggml.merges")], said
said, made = back("gpt2", tokens, ["Ġ Ġ", "a b"], pre="gpt-2")
assert said == [], said

# The name of the pre-tokenizer also determines ignore_merges; an unknown name gives a warning.
for pre, ignores, told in (("llama-bpe", True, []), ("tekken", True, []), ("qwen2", False, []), ("gpt-2", False, []),
                           ("llama3", True, []), ("deepseek-r1-qwen", False, []),
                           ("default", False, ["tokenizer.ggml.pre"]), ("none-such", False, ["tokenizer.ggml.pre"])):
    said, made = back("gpt2", tokens, ["a b"], pre=pre)
    assert made["model"]["ignore_merges"] is ignores, pre
    assert said == [("warning", name) for name in told], (pre, said)
said, made = back("gpt2", tokens, ["a b"])
assert said == [("warning", "tokenizer.ggml.pre")], said

# SentencePiece: every split of a token into two tokens is a merge; of tokens with equal text, the first is used.
tokens = [("<unk>", UNKNOWN), ("<s>", CONTROL), ("a", NORMAL), ("aa", NORMAL), ("aaa", NORMAL), ("aaa", NORMAL), ("aa", USER)]
said, made = back("llama", tokens, scores=[0, 0, -3, -1, -2, -2, 0])
assert made["model"]["merges"] == [["a", "a"], ["a", "aa"], ["aa", "a"]], made["model"]["merges"]
assert made["model"]["vocab"] == {"<unk>": 0, "<s>": 1, "a": 2, "aa": 3, "aaa": 4} and said == []
# Scores that are NaN are sorted last.
nan = float("nan")
more = tokens[:5] + [("b", NORMAL), ("ab", NORMAL), ("ba", NORMAL)]
said, made = back("llama", more, scores=[0, 0, nan, -1, nan, nan, -4, -3])
assert made["model"]["merges"] == [["a", "a"], ["b", "a"], ["a", "b"], ["a", "aa"], ["aa", "a"]], made["model"]["merges"]

# For tokens whose merges would take hundreds of times the size of the tokens, no tokenizer.json is written.
def files(tokens, code):
    gguf("m.gguf", "llama", tokens, bos_token_id=1)
    shutil.rmtree("made", ignore_errors=True)
    p = subprocess.run(["wb", "convert", "m.gguf", "made", "--to", "safetensors", "--json"], capture_output=True)
    assert p.returncode == code, p
    return json.loads(p.stdout), sorted(os.listdir("made")) if os.path.isdir("made") else []

head = [("<unk>", UNKNOWN), ("<s>", CONTROL)]
answer, made = files(head + [("a" * n, NORMAL) for n in range(1, 500)], 0)
assert [(f["severity"], f["name"]) for f in answer["findings"]] == [("warning", "tokenizer.ggml.tokens")], answer
assert "tokenizer.json" not in made and "tokenizer_config.json" in made, made
# Equal tokens are counted once.
answer, made = files(head + [("a" * n, NORMAL) for n in range(1, 20)] * 500, 0)
assert answer["findings"] == [] and os.path.getsize("made/tokenizer.json") < 20000

# A file above the size limit is reported as such, not as a lack of memory.
answer, made = files([("<unk>", UNKNOWN), ("\1" * (6 << 20), CONTROL)], 3)
assert answer["error"]["code"] == "convert-metadata" and "tokenizer.json" in answer["error"]["message"], answer
assert made == [], made
P
