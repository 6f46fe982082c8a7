"""Small models with the tokenizers of tests/data/tokens, for tests of the example engine's tokenizer. Nothing but
the standard library and `wb`."""
import json, os, pathlib, shutil, struct, subprocess
from engine import read, write

DATA = pathlib.Path(__file__).parent.parent / "data"
RULES = json.loads((DATA / "tokens/rules.json").read_text())
# The tokenizers; byte-level BPE once with each rule by which text is split.
NAMES = [*RULES, "sentencepiece", "unigram", "wordpiece"]


def copy_tokenizer(name, out):
    """Returns the number of tokens."""
    source = DATA / "tokens"
    if name in RULES:
        made = json.loads((source / "bpe.json").read_text())
        made["pre_tokenizer"] = RULES[name]
        made["model"]["ignore_merges"] = name in ("llama-bpe", "tekken")
        (out / "tokenizer.json").write_text(json.dumps(made))
        (out / "tokenizer_config.json").write_text('{"bos_token": "<|im start|>", "eos_token": "<|end|>"}')
        return len(made["model"]["vocab"]) + len(made["added_tokens"])
    if name == "wordpiece":
        shutil.copyfile(source / "wordpiece.json", out / "tokenizer.json")
        (out / "tokenizer_config.json").write_text(json.dumps({
            "cls_token": "[CLS]", "sep_token": "[SEP]", "unk_token": "[UNK]", "pad_token": "[PAD]"}))
        return len(json.loads((source / "wordpiece.json").read_text())["model"]["vocab"])
    shutil.copyfile(source / (name + ".model"), out / "tokenizer.model")
    (out / "tokenizer_config.json").write_text(json.dumps({
        "added_tokens_decoder": {"3": {"content": "<user>", "special": False}}}))
    return 600


def folder(name):
    """Makes a folder NAME: a Llama of 2 layers with one of the tokenizers."""
    out, twin = pathlib.Path(name), DATA / "twins/llama"
    out.mkdir()
    count = copy_tokenizer(name, out)
    config = json.loads((twin / "config.json").read_text())
    (out / "config.json").write_text(json.dumps({**config, "vocab_size": count}))
    tensors = read(twin / "model.safetensors")
    for tensor, (dtype, shape, raw) in tensors.items():
        if shape[0] == config["vocab_size"]:
            tensors[tensor] = dtype, [count, *shape[1:]], raw[:2 * shape[1]] * count
    write(out / "model.safetensors", tensors)
    return str(out)


def gguf(name):
    """The GGUF file that wb makes of a folder."""
    subprocess.run([os.environ.get("WB", "wb"), "convert", name, name + ".gguf"], check=True,
                   stdout=subprocess.DEVNULL)
    return name + ".gguf"


def ids(path, text, code=0):
    """The token ids that the engine prints for a text, or its message."""
    done = subprocess.run([os.environ["LLAMA"], "-T", "-", str(path)], input=text.encode(), capture_output=True)
    assert done.returncode == code, (path, text[:99], done.returncode, done.stderr)
    return list(map(int, done.stdout.split())) if code == 0 else done.stderr.decode()


def vocabulary(path, model, tokens, **more):
    """A GGUF file with a tokenizer and one tensor. Lists are arrays of strings, int32 or float32."""
    def string(text):
        return struct.pack("<Q", len(text.encode())) + text.encode()

    def value(v):
        if isinstance(v, bool):
            return struct.pack("<I?", 7, v)
        if isinstance(v, int):
            return struct.pack("<II", 4, v)
        if isinstance(v, str):
            return struct.pack("<I", 8) + string(v)
        kind, pack = {str: (8, string), int: (5, lambda i: struct.pack("<i", i)),
                      float: (6, lambda f: struct.pack("<f", f))}[type(v[0]) if v else str]
        return struct.pack("<IIQ", 9, kind, len(v)) + b"".join(map(pack, v))
    values = {"general.architecture": "llama", "tokenizer.ggml.model": model, "tokenizer.ggml.tokens": tokens}
    values.update({"tokenizer.ggml." + key: v for key, v in more.items()})
    out = b"GGUF" + struct.pack("<IQQ", 3, 1, len(values))
    out += b"".join(string(key) + value(v) for key, v in values.items())
    out += string("output_norm.weight") + struct.pack("<IQIQ", 1, 8, 0, 0)
    pathlib.Path(path).write_bytes(out + bytes(-len(out) % 32 + 32))
    return path
