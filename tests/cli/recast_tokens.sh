# Problems of a tokenizer are reported in conversions to GGUF, which gets as many tokens as the embedding has
# rows.
python3 -B - "$DATA/twins" <<'P'
import json, os, pathlib, shutil, subprocess, sys
twins = pathlib.Path(sys.argv[1])

def convert(family, **files):
    """The codes of what is told, and the tokens, with files of a twin changed (a function of them) or gone (None)."""
    shutil.rmtree("in", ignore_errors=True)
    shutil.copytree(twins / family, "in", copy_function=shutil.copyfile)
    for name, change in files.items():
        path = pathlib.Path("in") / name.replace("__", ".")
        if change is None:
            path.unlink()
        else:
            path.write_text(change(path.read_text()))
    p = subprocess.run(["wb", "convert", "in", "out.gguf", "--force", "--json"], capture_output=True)
    assert p.returncode == 0, p
    tokens = json.loads(subprocess.run(["wb", "inspect", "--json", "--metadata", "out.gguf"], capture_output=True).stdout)
    tokens = tokens["metadata"].get("tokenizer.ggml.tokens")
    found = [(f["severity"], f["code"]) for f in json.loads(p.stdout)["findings"]]
    return found, tokens["count"] if isinstance(tokens, dict) else tokens and len(tokens), json.loads(p.stdout)["findings"]

def edited(change):
    def edit(text):
        value = json.loads(text)
        change(value)
        return json.dumps(value)
    return edit

found, rows, _ = convert("qwen2")
assert not found and rows == 24, (found, rows)
# A truncated tokenizer file, and a missing one.
found, count, _ = convert("qwen2", tokenizer__json=lambda t: t[:len(t) // 2])
assert ("warning", "tokenizer") in found and ("warning", "convert-metadata") in found and count is None, (found, count)
found, count, said = convert("qwen2", tokenizer__json=None, tokenizer_config__json=None)
assert found == [("warning", "convert-metadata")] and "no readable tokenizer" in said[0]["message"] and count is None, (found, count)
found, _, _ = convert("qwen2", config__json=lambda t: t[:-3])
assert ("warning", "config-json") in found, found
found, _, _ = convert("qwen2", tokenizer__json=edited(lambda t: t.update(pre_tokenizer={
    "type": "Split", "pattern": {"Regex": r"\p{L}+|."}, "behavior": "Isolated", "invert": False})))
assert ("warning", "pre-tokenizer") in found, found
# The embedding of BERT has another name, and its tokens come from vocab.txt if there is no other tokenizer file.
found, _, _ = convert("bert")
assert not found or found == [("info", "convert-left-out")] * len(found), found
found, count, said = convert("bert", tokenizer__json=None, tokenizer_config__json=None, vocab__txt=None)
assert ("warning", "convert-metadata") in found and any("no readable tokenizer" in f["message"] for f in said) and count is None, said
for size in 20, 30:
    found, count, _ = convert("bert", config__json=edited(lambda c: c.update(vocab_size=size)))
    assert ("warning", "convert-metadata") not in found and count == rows, (size, count, found)
found, count, said = convert("bert", tokenizer__json=edited(lambda t: t["model"]["vocab"].update({"zz": rows})))
assert ("warning", "convert-metadata") in found and any("25 tokens" in f["message"] for f in said), said
# The number of tokens is that of the embedding rows, even if config.json specifies another.
for size in 20, 30, 100000:
    found, count, _ = convert("qwen2", config__json=edited(lambda c: c.update(vocab_size=size)))
    assert count == rows and not found, (size, count, found)
# An added token without an embedding row is omitted. Other tokens without a row are not omitted; a warning reports
# them.
found, count, _ = convert("qwen2", tokenizer__json=edited(lambda t: t["added_tokens"].append(
    {"id": rows, "content": "<image>", "special": True, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False})))
assert found == [("info", "convert-left-out")] and count == rows, (found, count)
found, count, said = convert("qwen2", tokenizer__json=edited(lambda t: t["model"]["vocab"].update({"zz": rows})))
assert found == [("warning", "convert-metadata")] and "25 tokens" in said[0]["message"] and count == rows + 1, (said, count)
P
