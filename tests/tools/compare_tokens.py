"""Token ids of the example engine against those of the real programs: compare_tokens.py WB LLAMA COUNT MODELS...

MODELS are folders with a tokenizer.json. COUNT random texts for each are compared with the tokenizers package, and with
llama.cpp on the GGUF file that wb makes of the folder. Prints texts that differ. A few may: the programs have other versions of
Unicode, above all in WordPiece. Two kinds of special tokens are left out: those that also take the spaces behind them
(Phi 3), and runs of U+2581 (Gemma), which llama.cpp finds only as spaces and the tokenizers package only as U+2581.
Texts are in NFC if the tokenizer requires it (Qwen 2).

Needs tokenizers, unicodedata2 16 and llama-cpp-py-sync. LIBLLAMA can name another libllama. Run by hand.
"""
import json, os, random, subprocess, sys, tempfile
import unicodedata2 as unicode

WORDS = ("the model returns a list of tokens if it's not empty; don't we'll WE'RE I'M you'd they've 'S 'tis "
         "Müller naïve café straße İstanbul ΣΊΣΥΦΟΣ Привет мир שלום مرحبا नमस्ते สวัสดี 你好，世界。 東京タワー 한국어 "
         "HTTPServer parseXMLFile camelCase snake_case __init__ i18n x86_64 0x7fff 3.14159 1234567890 1,000,000 "
         "½ ² Ⅷ ٣٤٥ 𝟙𝟚 👍🏽 👨‍👩‍👧 🇩🇪 ❤️ … “quoted” — ‘x’ #tag @user a/b//c http://x.y/z?a=1&b=2 e\u0301 o\u0308 ﬁ "
         "ǅ ʰa ªb ꟲ A\u0301b \u0301 ▁ <0x41> \u200b \u00ad \ufeff \x0b \x85 \u2028").split(" ")
JOINTS = [" ", "", "\n", "  ", "    ", "\t", "\r\n", "\n\n", " \n ", "\u00a0", "\u3000", ".", ",", "(", ")", "'", "/", " /\n"]
CODE = ["def add(self, x=1):\n    return self.x + x\n", "for (int i = 0; i < n; i++) {\n\t\ta[i] += 2;\n}", "{\"k\": [1, 2.5e-3]}"]
ASSIGNED = [c for c in range(0x20, 0x30000) if unicode.category(chr(c)) not in ("Cn", "Cs", "Co")]


def random_text(rng, special):
    parts = []
    for _ in range(rng.randint(1, 12)):
        kind = rng.random()
        if kind < 0.5:
            parts.append(rng.choice(WORDS))
        elif kind < 0.6:
            parts.append(rng.choice(CODE))
        elif kind < 0.7:
            parts.append("".join(chr(rng.choice(ASSIGNED)) for _ in range(rng.randint(1, 6))))
        elif kind < 0.8:
            parts.append("".join(rng.choice(" \n\t\r0123456789aA'") for _ in range(rng.randint(1, 9))))
        elif kind < 0.9:
            parts.append(str(rng.randrange(10 ** rng.randint(1, 12))))
        elif special:
            parts.append(rng.choice(special))
        parts.append(rng.choice(JOINTS))
    return "".join(parts)


def ours(llama, text, path):
    done = subprocess.run([llama, "-T", "-", path], input=text.encode(), capture_output=True)
    assert done.returncode == 0, (path, text, done.stderr)
    return list(map(int, done.stdout.split()))


def hugging_face(folder):
    """A function that returns the ids of a text."""
    from tokenizers import Tokenizer
    tokenizer = Tokenizer.from_file(folder + "/tokenizer.json")
    return lambda text: tokenizer.encode(text).ids


class LlamaCpp:
    """The vocabulary of a GGUF file."""

    def __init__(self, path):
        from llama_cpp_py_sync import _cffi_bindings as c
        self.ffi = c.get_ffi()
        self.lib = self.ffi.dlopen(os.environ["LIBLLAMA"]) if "LIBLLAMA" in os.environ else c.get_lib()
        self.lib.llama_backend_init()
        self.silent = self.ffi.callback("ggml_log_callback", lambda *_: None)
        self.lib.llama_log_set(self.silent, self.ffi.NULL)
        params = self.lib.llama_model_default_params()
        params.vocab_only = True
        self.model = self.lib.llama_model_load_from_file(path.encode(), params)
        assert self.model != self.ffi.NULL, path
        self.vocab = self.lib.llama_model_get_vocab(self.model)

    def ids(self, text):
        raw = text.encode()
        room = len(raw) * 2 + 16
        ids = self.ffi.new("llama_token[]", room)
        n = self.lib.llama_tokenize(self.vocab, raw, len(raw), ids, room, True, True)
        assert n >= 0
        return list(ids[0:n])


def compare(what, texts, wanted, got):
    bad = 0
    for text in texts:
        a, b = wanted(text), got(text)
        if a != b:
            bad += 1
            if bad <= 3:
                at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
                print(f"  {text!r}\n    at {at}: wanted {a[at:at + 12]} got {b[at:at + 12]}")
    print(f"{what}: {bad} of {len(texts)} texts differ", flush=True)
    return bad


def main():
    wb, llama, count, *folders = sys.argv[1:]
    bad = 0
    for folder in folders:
        parsed = json.load(open(folder + "/tokenizer.json"))
        special = [t["content"] for t in parsed["added_tokens"] if not t["rstrip"] and t["content"].strip("▁")]
        nfc = (parsed["normalizer"] or {}).get("type") == "NFC"
        rng = random.Random(1)
        texts = [random_text(rng, special) for _ in range(int(count))]
        if nfc:
            texts = [unicode.normalize("NFC", text) for text in texts]
        first = None if parsed["post_processor"] else ours(llama, "", folder)
        hf = hugging_face(folder)
        bad += compare(folder + ": tokenizers", texts, lambda t: (first or []) + hf(t), lambda t: ours(llama, t, folder))
        with tempfile.TemporaryDirectory() as scratch:
            path = scratch + "/m.gguf"
            subprocess.run([wb, "convert", folder, path], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            bad += compare(folder + ": llama.cpp", texts, LlamaCpp(path).ids, lambda t: ours(llama, t, path))
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
