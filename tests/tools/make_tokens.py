"""Writes tests/data/tokens: small tokenizers, texts, and the token ids that the real programs give: make_tokens.py

The tokenizers are trained on the documents of this project and a few sentences in other languages. The ids are those
of llama.cpp for the GGUF file that wb makes, and the packages tokenizers or sentencepiece must give the same ids. The
ids of WordPiece are those of tokenizers, since llama.cpp removes more marks, does not split Korean syllables, and
splits words of any length.

Needs tokenizers, sentencepiece, unicodedata2 16 and llama-cpp-py-sync (LIBLLAMA names another libllama), and WB and
LLAMA, the paths of the command and the example engine. Run by hand.
"""
import json, os, pathlib, sys, tempfile
import tokenizers as hf
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers
import sentencepiece

ROOT = pathlib.Path(__file__).parent.parent.parent
OUT = ROOT / "tests/data/tokens"

CONTRACTIONS, SPACES, NO_LETTER = "(?i:'s|'t|'re|'ve|'m|'ll|'d)", r"\s*[\r\n]+|\s+(?!\S)|\s+", r"[^\r\n\p{L}\p{N}]?"
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
EXPRESSIONS = {
    "llama-bpe": [CONTRACTIONS + "|" + NO_LETTER + r"\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|" + SPACES],
    "qwen2": [CONTRACTIONS + "|" + NO_LETTER + r"\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|" + SPACES],
    "qwen35": [CONTRACTIONS + "|" + NO_LETTER + r"[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|" + SPACES],
    "gpt-4o": [f"{NO_LETTER}{UPPER}*{LOWER}+{CONTRACTIONS}?|{NO_LETTER}{UPPER}+{LOWER}*{CONTRACTIONS}?|"
               r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|" + SPACES],
    "tekken": [f"{NO_LETTER}{UPPER}*{LOWER}+|{NO_LETTER}{UPPER}+{LOWER}*|"
               r"\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|" + SPACES],
    "deepseek-v3": [r"\p{N}{1,3}", "[一-龥぀-ゟ゠-ヿ]+",
                    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?"
                    r"[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|" + SPACES],
}

LANGUAGES = """Der schnelle braune Fuchs springt über den faulen Hund. Straße, Größe, Übung.
Le cœur a ses raisons que la raison ne connaît point. L'été, la forêt, où?
Быстрая лиса прыгает через собаку. Привет, мир! Ελληνικά: Η γρήγορη αλεπού.
敏捷的棕色狐狸跳过了懒狗。你好，世界！模型的权重存储在文件中。
素早い茶色の狐が怠け者の犬を飛び越えます。東京タワーは高いです。
빠른 갈색 여우가 게으른 개를 뛰어넘습니다. 안녕하세요.
الثعلب البني السريع يقفز فوق الكلب الكسول. שלום עולם. नमस्ते दुनिया। สวัสดีชาวโลก 👍🏽 🎉
"""

TEXTS = [
    "", "a", " ", "\n", "Hello, world!", "The model's weights aren't in one file; they're in three.",
    "I'M SURE YOU'D say we'll, they'VE and it's 'tis don''t", "   leading and trailing   ", "tabs\tand\t\ttabs",
    "a\n\nb\n \n  c \n\n\n", "line\r\nline\r\n\r\n  end", "nbsp\u00a0here\u3000and\u2003there",
    "def add(self, x=1):\n    if x > 0:\n        return self.x + x\n",
    "for (int i = 0; i < n; i++) {\n\t\ta[i] += b->c[i] * 2.5e-3f;\n}", "{\"key\": [1, 2.5, null], \"path\": \"C:\\\\x\"}",
    "1 12 123 1234 12345 1234567890 3.14159 1,000,000 0x7fff x86_64", "½ ² Ⅷ ٣٤٥ 𝟙𝟚 १२३",
    "HTTPServer parseXMLFile camelCase snake_case __init__ UPPER Title iPhone ABCdefGHI",
    "Straße über Größe; où est le cœur? naïve café", "Быстрая ЛИСА прыгает. Ελληνικά ΣΊΣΥΦΟΣ",
    "敏捷的棕色狐狸跳过了懒狗。", "東京タワーは高いです、ね？", "빠른 갈색 여우가 게으른 개를", "mix中文with英文and日本語123",
    "الثعلب البني السريع", "שלום עולם", "नमस्ते दुनिया। क्षत्रिय", "สวัสดีชาวโลก",
    "👍🏽 👨‍👩‍👧 🇩🇪 ❤️ ☃ ™ ©", "…“quoted” — ‘x’ – «y» #tag @user $5 50% a/b//c\n/d", "http://example.org/a?b=1&c=2#d",
    "e\u0301 o\u0308 A\u0301b Z\u0323\u0307 \u0301x", "ǅ ʰa ªb ﬁ ꟲ İstanbul", "zero\u200bwidth \u00adsoft \ufeffbom",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "====----====/////.....!!!!????", "\\p{L}+|[^\\s]*?\n```c\n#include <stdio.h>\n```",
]
# With the special tokens of each tokenizer instead of {0} and {1}.
SPECIAL_TEXTS = ["{0}Hello{1}", "a{0}{1} b {0}\n", "{1}{1}{0", "x {0} 中{1}文"]
SPECIALS = {"wordpiece": ("[MASK]", "[SEP]"), "sentencepiece": ("<s>", "<user>"), "unigram": ("</s>", "<user>")}


def texts_of(name):
    special = SPECIALS.get(name, ("<|im start|>", "<|end|>"))
    return TEXTS + [text.replace("{0}", special[0]).replace("{1}", special[1]) for text in SPECIAL_TEXTS]


def rules():
    """The pre-tokenizers. "default" has an expression that no model has, so that its rule is unknown."""
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    gpt2 = {**byte_level, "use_regex": True}

    def split(expression):
        return {"type": "Split", "pattern": {"Regex": expression}, "behavior": "Isolated", "invert": False}

    def sequence(*parts):
        return {"type": "Sequence", "pretokenizers": list(parts)}
    made = {name: sequence(*map(split, parts), byte_level) for name, parts in EXPRESSIONS.items()}
    return {"gpt-2": gpt2, **made, "starcoder": sequence({"type": "Digits", "individual_digits": True}, gpt2),
            "default": sequence(split(r"\p{L}+|."), byte_level)}


def train():
    """Texts to learn words from: the documents, and each sentence in other languages several times."""
    documents = [p.read_text() for p in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]]
    return [line for text in documents for line in text.splitlines() if line] + LANGUAGES.splitlines() * 40


def compact(tokenizer, path):
    path.write_text(json.dumps(json.loads(tokenizer.to_str()), ensure_ascii=False, separators=(",", ":")) + "\n")


def make_tokenizers(lines):
    bpe = hf.Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    bpe.train_from_iterator(lines, trainers.BpeTrainer(vocab_size=700, show_progress=False,
                                                       initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    bpe.add_special_tokens(["<|im start|>", "<|end|>"])
    compact(bpe, OUT / "bpe.json")
    words = hf.Tokenizer(models.WordPiece(unk_token="[UNK]"))
    words.normalizer = normalizers.BertNormalizer()
    words.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    words.decoder = decoders.WordPiece()
    words.train_from_iterator(lines, trainers.WordPieceTrainer(
        vocab_size=600, show_progress=False, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]))
    words.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    compact(words, OUT / "wordpiece.json")
    for kind, name, bytes_too in (("bpe", "sentencepiece", True), ("unigram", "unigram", False)):
        with open(OUT / (name + ".model"), "wb") as out:
            sentencepiece.SentencePieceTrainer.train(
                sentence_iterator=iter(lines), model_writer=out, model_type=kind, vocab_size=600, num_threads=1,
                byte_fallback=bytes_too, character_coverage=0.99, normalization_rule_name="identity",
                remove_extra_whitespaces=kind == "unigram", user_defined_symbols=["<user>"], minloglevel=2)


def other(name):
    """The ids of a text in the program that trained a tokenizer, without those that begin and end every text. None
    if the programs treat the text differently: sentencepiece finds no control tokens in text, and puts no space after
    other special tokens.
    """
    if name == "default":
        return lambda text: None
    if name in SPECIALS and name != "wordpiece":
        pieces = sentencepiece.SentencePieceProcessor(model_file=f"{name}/tokenizer.model")
        return lambda text: None if any(s in text for s in SPECIALS[name]) else pieces.encode(text)
    tokenizer = hf.Tokenizer.from_file(f"{name}/tokenizer.json")
    return lambda text: tokenizer.encode(text).ids


def main():
    OUT.mkdir(exist_ok=True)
    (OUT / "rules.json").write_text(json.dumps(rules(), ensure_ascii=False, indent=1) + "\n")
    make_tokenizers(train())
    sys.path[:0] = [str(ROOT / "tests/cli")]
    import tokens
    from compare_tokens import LlamaCpp
    os.chdir(tempfile.mkdtemp())
    expected, bad = {}, 0
    for name in tokens.NAMES:
        tokens.folder(name)
        llama_cpp, twin = LlamaCpp(tokens.gguf(name)), other(name)
        expected[name] = {}
        for text in texts_of(name):
            ids, also = llama_cpp.ids(text), twin(text)
            bare = ids[name in ("llama-bpe", "tekken", "sentencepiece"):len(ids) - (name == "unigram")]
            if name == "wordpiece":
                if ids != also:
                    print(f"wordpiece: llama.cpp gives other ids for {text!r}")
                ids = also
            elif also is not None and also != bare:
                bad += 1
                print(f"{name}: {text!r}\n  llama.cpp {ids}\n  other     {also}")
            expected[name][text] = ids
    lines = [f' {json.dumps(name)}: {{\n' + ",\n".join(f"  {json.dumps(t)}: {json.dumps(i, separators=(',', ':'))}"
             for t, i in texts.items()) + "\n }" for name, texts in expected.items()]
    (OUT / "expected.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
