# The example engine turns text into the tokens that llama.cpp and the packages tokenizers and sentencepiece give
# (data/tokens, tests/tools/make_tokens.py), from folders and from GGUF files, for every kind of tokenizer.
PYTHONPATH=$SOURCE/tests/cli python3 -B - <<'P'
import json, os, pathlib, resource, shutil, subprocess
from tokens import DATA, NAMES, folder, gguf, ids, vocabulary

LLAMA = os.environ["LLAMA"]

def seconds():
    """The processor time of all processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime

expected = json.loads((DATA / "tokens/expected.json").read_text())
assert sorted(expected) == sorted(NAMES) and len(NAMES) == 12
models = {}
for name in NAMES:
    assert len(expected[name]) > 35
    models[name] = folder(name)
    packed = gguf(name)
    for i, (text, wanted) in enumerate(expected[name].items()):
        # The two differ only in where the metadata is from, so every third text is enough for the folder.
        for path in (packed, models[name])[:1 + (i % 3 == 0)]:
            got = ids(path, text)
            assert got == wanted, (path, text, wanted, got)

def run(*args, code=0, **more):
    done = subprocess.run([LLAMA, *map(str, args)], capture_output=True, **more)
    assert done.returncode == code, (args, code, done)
    return (done.stderr if code else done.stdout).decode()

# The tokens give the text back, except where the tokenizer loses something.
for name in ("gpt-2", "sentencepiece"):
    for text in expected[name]:
        tokens = [i for i in ids(models[name], text) if name == "gpt-2" or i != 1]
        if tokens and "\x1b" not in text and not any(s in text for s in ("<|", "<s>", "<user>")):
            printed = run("-n", 0, "-i", " ".join(map(str, tokens)), models[name])
            assert printed == (" " if name == "sentencepiece" else "") + text + "\n", (name, text, printed)

# Bytes that are not UTF-8 have tokens, and are replaced when they are printed.
raw = b"a\xff\xc3(\xe4\xb8\xf0\x9f"
done = subprocess.run([LLAMA, "-T", "-", models["llama-bpe"]], input=raw, capture_output=True)
assert done.returncode == 0, done
printed = run("-n", 0, "-i", done.stdout.decode().strip(), models["llama-bpe"])
assert printed == "a\ufffd\ufffd(\ufffd\ufffd\ufffd\ufffd\n", printed

# The time does not grow with the square of the length: these texts would take minutes.
long = {"gpt-2": ["a", "ab ", "\n", " ", "1", "é"], "gpt-4o": ["A", "a\u0301", " \n", "/\n"], "deepseek-v3": ["中", "!a"],
        "sentencepiece": ["a", "the ", " ", "<s"], "unigram": ["a", "the ", " ", "中"], "wordpiece": ["a", "a ", "!", "中"]}
for name, texts in long.items():
    for text in texts:
        begin = seconds()
        assert ids(models[name], text * 60000)
        assert seconds() - begin < 30, (name, text, seconds() - begin)
# Nor with a vocabulary that is made for it: special tokens that begin all alike, and long ones.
alike = vocabulary("alike.gguf", "llama", ["<unk>", *("a" * n + "b" for n in range(1, 400)), "a" * 100000],
                   scores=[0.0] * 401, token_type=[2] + [3] * 400, unknown_token_id=0, add_bos_token=False)
begin = seconds()
assert set(ids(alike, "a" * 50000)) == {0} and seconds() - begin < 30
alike = vocabulary("alike.gguf", "t5", ["<unk>", *("a" * n for n in range(1, 800))], scores=[0.0] * 800,
                   unknown_token_id=0)
begin = seconds()
assert ids(alike, "a" * 50000) and seconds() - begin < 30

# Damaged metadata is an error that names the key; no token and no merge without a text is ever used.
letters = [chr(c) if 33 <= c < 127 or 161 <= c < 173 or c > 173 else None for c in range(256)]
hidden = iter(range(256, 512))
letters = [c or chr(next(hidden)) for c in letters]
def damaged(message, model="gpt2", tokens=letters, text="ab", **more):
    assert message in ids(vocabulary("bad.gguf", model, tokens, **more), text, code=1), (message, more)

good = dict(pre="gpt-2", merges=["a b"])
ok = vocabulary("ok.gguf", "gpt2", [*letters, "ab"], **good)
assert ids(ok, "ab a") == [256, 32, 97]
damaged("tokenizer.ggml.merges")
damaged("no-such-rule", pre="no-such-rule", merges=["a b"])
damaged("no-such-kind", model="no-such-kind")
damaged("tokenizer.ggml.merges", pre="gpt-2", merges=[1, 2])
damaged("tokenizer.ggml.token_type: does not have as many entries", token_type=[1, 2], **good)
damaged("not in the vocabulary", tokens=["a", "c"], **good)
damaged("not in the vocabulary", tokens=[], **good)
damaged("tokenizer.ggml.scores: is missing", model="llama")
damaged("tokenizer.ggml.scores: does not have as many entries", model="llama", scores=[1.0] * 255)
damaged("tokenizer.ggml.scores", model="llama", scores=[1] * 256)
damaged("not in the vocabulary", model="llama", tokens=["c"], scores=[0.0])
damaged("not in the vocabulary", model="llama", tokens=["c"], scores=[0.0], unknown_token_id=7)
damaged("not in the vocabulary", model="t5", tokens=["c"], scores=[0.0])
damaged("not in the vocabulary", model="bert", tokens=["c"])
for merges in (["", " ", "  ", "a", " a", "a ", "a b c", "x" * 999, "ÿ ÿ", "中 中", "a b", "a b"], []):
    odd = vocabulary("odd.gguf", "gpt2", [*letters, "", "ab", "ab", "\u0100", "", "中"], merges=merges, pre="gpt-2",
                     token_type=[1] * 256 + [3, 1, 1, 4, 4, -7], bos_token_id=999, add_bos_token=True)
    assert ids(odd, "ab") == ([258] if merges else [97, 98]), merges
    assert ids(odd, "") == [] and len(ids(odd, "中")) == 3
nan = vocabulary("nan.gguf", "llama", ["<unk>", "a", "b", "ab", "", "<0x41>", "<0xZZ>", "<0x4"], unknown_token_id=0,
                 scores=[0.0, float("nan"), float("inf"), float("nan"), 1.0, 1.0, 1.0, 1.0],
                 token_type=[2, 1, 1, 1, 4, 6, 6, 6])
assert ids(nan, "abAab") == [0, 3, 5, 3]

# Usage errors end with code 2, other errors with code 1.
demo = pathlib.Path(os.environ["SOURCE"]) / "demo/tiny-pycode"
for args, message in (((), "TEXT: is missing"), (("a",), "MODEL: is missing"), (("a", demo, "b"), "b: there is a TEXT"),
                      (("-x", "a", demo), "-x: there is no such option"), (("-nn", "a", demo), "no such option"),
                      (("-n", "-3", "a", demo), "not a value that"), (("-n", "1.5", "a", demo), "not a value that"),
                      (("-p", "2", "a", demo), "not a value that"), (("a", demo, "-s"), "-s: a value is missing"),
                      (("-i", "1 x", demo), "not a list of token ids"), (("-i", "--", "-1", demo), "not a list"),
                      (("-i", "99999999999999999999", demo), "not a list")):
    printed = run(*args, code=2)
    assert message in printed and "usage: llama [options] TEXT MODEL" in printed, (args, printed)
assert run("-h") == run("--help") and "-t TEMP" in run("-h")
assert run("-T", "--", "-5", demo) == run("-T", "-", demo, input=b"-5")
with open("/dev/full", "wb") as full:
    for args in ("-n", "1", "a", demo), ("-T", "a", demo):
        done = subprocess.run([LLAMA, *args], stdout=full, stderr=subprocess.PIPE)
        assert done.returncode == 1 and b"standard output: cannot be written" in done.stderr, done
assert "has no tokenizer" in run("a", DATA / "models/qwen3-bf16", code=1)
assert run("-n", 1, "-i", "3 5", DATA / "models/qwen3-bf16").startswith("3 5 ")

# valgrind, only with the preset dev: the sanitizers of the other presets do its work.
if "/build/dev/" in LLAMA and shutil.which("valgrind"):
    check = ["valgrind", "-q", "--error-exitcode=9", "--leak-check=full", LLAMA]
    for name in NAMES:
        subprocess.run([*check, "-T", "-", models[name]], input="".join(expected[name]).encode(), check=True,
                       stdout=subprocess.DEVNULL)
    for path in ("odd.gguf", "nan.gguf"):
        subprocess.run([*check, "-T", "ab中A", path], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([*check, "-n", "3", "-t", "0.8", "-p", "0.9", "x = 中", demo], check=True, stdout=subprocess.DEVNULL)
P
