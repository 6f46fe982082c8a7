# RoPE settings at any place of config.json are converted to GGUF; settings that GGUF cannot represent are reported.
python3 -B - "$DATA/twins" <<'P'
import json, math, os, pathlib, shutil, subprocess, sys
twins = pathlib.Path(sys.argv[1])

def wb(*args):
    p = subprocess.run(["wb", *map(str, args)], capture_output=True)
    return p.returncode, p.stdout.decode(), p.stderr.decode()

def convert(family, change, drop=()):
    """The GGUF file of a twin whose config.json is changed; the keys of RoPE in it, and what was told."""
    shutil.rmtree("in", ignore_errors=True)
    shutil.copytree(twins / family, "in", copy_function=shutil.copyfile)
    os.chmod("in", 0o755)
    config = json.loads((twins / family / "config.json").read_text())
    if not family.startswith("gemma"):
        config["sliding_window"] = None  # llama.cpp ignores it, of which a finding tells
    config = {k: v for k, v in (config | change).items() if k not in drop}
    pathlib.Path("in/config.json").write_text(json.dumps(config))
    code, answer, said = wb("convert", "in", "out.gguf", "--force", "--json")
    assert code == 0, said
    asked = json.loads(wb("inspect", "--json", "--metadata", "out.gguf")[1])["metadata"]
    return {k.partition(".")[2]: v for k, v in asked.items() if ".rope." in k}, json.loads(answer)["findings"], config

def same(keys, **more):
    for key, value in more.items():
        got = keys.get("rope." + key.replace("__", "."))
        assert got == value, (key, got, value, keys)

yarn = {"factor": 4.0, "original_max_position_embeddings": 32}
for change in ({"rope_scaling": {"type": "yarn", **yarn}}, {"rope_scaling": {"rope_type": "yarn", **yarn}},
               {"rope_parameters": {"rope_type": "yarn", "rope_theta": 70000.0, **yarn}}):
    keys, told, _ = convert("qwen3", change, ("rope_theta",) if "rope_parameters" in change else ())
    same(keys, scaling__type="yarn", scaling__factor=4, scaling__original_context_length=32)
    assert not told, told
keys, told, _ = convert("gemma3", {"rope_parameters": {"full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1e6},
                                                      "sliding_attention": {"rope_type": "default", "rope_theta": 1e4}}})
same(keys, scaling__type="linear", scaling__factor=8)
keys, told, _ = convert("gemma3", {"rope_parameters": {"full_attention": {"rope_type": "yarn", **yarn}, "sliding_attention": {}}})
same(keys, scaling__type="yarn", scaling__factor=4, scaling__original_context_length=32)
assert not told, told
# llama.cpp loads only a factor that is f32 and a length that is u32, whichever way JSON writes them.
for factor, length in (4, 32), (4.0, 32.0):
    keys, told, _ = convert("qwen3", {"rope_scaling": {"type": "yarn", "factor": factor, "original_max_position_embeddings": length}})
    same(keys, scaling__factor=4, scaling__original_context_length=32)
    raw = pathlib.Path("out.gguf").read_bytes()
    for key, type in (b"scaling.factor", 6), (b"scaling.original_context_length", 4):
        assert raw[raw.index(key) + len(key)] == type, (factor, length, key)
# No reader of GGUF scales RoPE in sliding-window layers.
for full in {"rope_theta": 1e6}, {"rope_theta": 1e6, "rope_type": "linear", "factor": 3.0}:
    keys, told, _ = convert("gemma3", {"rope_parameters": {"full_attention": full, "sliding_attention":
                                       {"rope_type": "linear", "factor": 3.0, "rope_theta": 1e4}}})
    same(keys, scaling__type=full.get("rope_type"), scaling__factor=full.get("factor"))
    assert [f["severity"] for f in told] == ["warning"] and "sliding_attention" in told[0]["message"], told
# The RoPE scaling of Llama 3, at either place of config.json, becomes a tensor.
llama3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8}
freqs = []
for where in "rope_scaling", "rope_parameters":
    keys, told, _ = convert("llama", {where: llama3})
    same(keys, scaling__type=None, scaling__factor=None)
    assert not told, told
    wb("export", "out.gguf", "rope_freqs.weight", "--format", "raw", "-o", "f.raw")
    freqs.append(pathlib.Path("f.raw").read_bytes())
assert freqs[0] == freqs[1] != b""
# LongRoPE of Phi 3, in all notations.
half = 1
factors = {"long_factor": [1.5] * half, "short_factor": [1.0] * half}
for change in ({"rope_scaling": {"type": "longrope", **factors}}, {"rope_scaling": {"type": "su", **factors}},
               {"rope_parameters": {"rope_type": "longrope", **factors}}):
    keys, told, _ = convert("phi3", {"original_max_position_embeddings": 8, **change})
    same(keys, scaling__type="longrope", scaling__original_context_length=8)
    assert abs(keys["rope.scaling.attn_factor"] - 1.1547) < 1e-4 and not told, (keys, told)
    listed = wb("inspect", "out.gguf")[1]
    assert "rope_factors_long.weight" in listed and "rope_factors_short.weight" in listed
# Without factors that llama.cpp can load, GGUF gets neither the type of the scaling nor the attention factor.
one = [1.0] * half
for long, short in (None, None), (one, None), (None, one), (one * 2, one), (one, one * 2), (["a"] * half, one), (one, [[1.0]] * half), \
                   ([0.0] * half, one), (one, [-1.0] * half), ([1e300] * half, one), ([], []), (2.0, one):
    given = {k: v for k, v in (("long_factor", long), ("short_factor", short)) if v is not None}
    keys, told, _ = convert("phi3", {"original_max_position_embeddings": 8, "rope_scaling": {"type": "longrope", **given}})
    same(keys, scaling__type=None, scaling__attn_factor=None, scaling__original_context_length=8)
    assert [f["severity"] for f in told] == ["warning"] and "long_factor" in told[0]["message"], (given, told)
    assert "rope_factors" not in wb("inspect", "out.gguf")[1]
# The number of factors is half the number of rotated dimensions; other families have no factors.
for count, good in (1, True), (2, False):
    keys, told, _ = convert("phi3", {"head_dim": 4, "partial_rotary_factor": 0.5, "original_max_position_embeddings": 8, "rope_scaling":
                                     {"type": "su", "long_factor": [1.5] * count, "short_factor": [1] * count}})
    same(keys, dimension_count=2, scaling__type="longrope" if good else None)
    assert good == (not told) == ("rope_factors" in wb("inspect", "out.gguf")[1]), (count, told)
for family in "llama", "qwen3":
    keys, told, _ = convert(family, {"original_max_position_embeddings": 8, "rope_scaling": {"type": "longrope", **factors}})
    same(keys, scaling__type=None, scaling__attn_factor=None)
    assert [f["severity"] for f in told] == ["warning"] and "RoPE scaling" in told[0]["message"], told
# The rotated fraction of a head survives a conversion to GGUF and back.
for change in ({"partial_rotary_factor": 0.5}, {"rope_parameters": {"partial_rotary_factor": 0.5, "rope_type": "default"}}):
    keys, told, config = convert("phi3", change)
    head = config["hidden_size"] // config["num_attention_heads"]
    same(keys, dimension_count=head // 2, scaling__type=None)
    shutil.rmtree("back", ignore_errors=True)
    assert wb("convert", "out.gguf", "back", "--force", "--to", "safetensors")[0] == 0
    assert json.load(open("back/config.json"))["partial_rotary_factor"] == 0.5
    assert not told, told
for part in 1e-9, 0.0, -0.5, 1.5, 0.49:  # which is none, or no dimension
    keys, _, config = convert("phi3", {"partial_rotary_factor": part})
    same(keys, dimension_count=head)
keys, _, _ = convert("llama", {"partial_rotary_factor": 0.5})  # which says nothing there
same(keys, dimension_count=json.loads((twins / "llama/config.json").read_text()).get("head_dim", keys["rope.dimension_count"]))
# Settings that llama.cpp does not support.
keys, told, _ = convert("qwen2", {"rope_scaling": {"type": "dynamic", "factor": 2.0}})
same(keys, scaling__type=None, scaling__factor=None)
assert [f["severity"] for f in told] == ["warning"] and "RoPE scaling" in told[0]["message"], told
# A config.json made from GGUF contains rope_scaling only if transformers knows its type. An original context length
# without a type is not written to GGUF either, except for families that need it.
def back(*edits):
    """rope_scaling of a folder that is made of out.gguf, and what was told."""
    shutil.rmtree("back", ignore_errors=True)
    for edit in edits:
        code, _, said = wb("edit", "out.gguf", *edit)
        assert code == 0, said
    code, answer, said = wb("convert", "out.gguf", "back", "--force", "--to", "safetensors", "--json")
    assert code == 0, said
    return json.load(open("back/config.json")).get("rope_scaling"), [f["message"] for f in json.loads(answer)["findings"]
                                                                     if f["severity"] == "warning"]

keys, told, _ = convert("qwen2", {"rope_scaling": llama3})
same(keys, scaling__type=None, scaling__original_context_length=None)
assert len(told) == 1 and back() == (None, []), told
keys, _, _ = convert("qwen2", {"original_max_position_embeddings": 8})
same(keys, scaling__original_context_length=None)
keys, _, _ = convert("llama", {"rope_scaling": llama3})
same(keys, scaling__original_context_length=8)
scaling = "qwen2.rope.scaling."
length = ["--set", f"{scaling}original_context_length=u32:8"]
for type, factor, want, warns in (
        (None, None, None, False), ("none", None, None, False), ("none", 4, None, False), ("linear", None, None, False),
        ("linear", 4, "linear", False), ("yarn", 4, "yarn", False), (None, 4, "linear", False), (None, 1, None, False),
        ("longrope", 4, None, True), ("mrope", None, None, True)):
    convert("qwen2", {})
    given = [["--set", f"{scaling}type=str:{type}"]] * (type is not None) + [["--set", f"{scaling}factor=f32:{factor}"]] * (factor is not None)
    got, told = back(length, *given)
    assert (got and (got["rope_type"], got["factor"])) == (want and (want, factor)), (type, factor, got)
    assert bool(told) == warns and all("RoPE scaling" in t for t in told), (type, factor, told)
# The boundaries of YaRN survive a round trip; llama.cpp computes its attention factor itself.
betas = {"beta_fast": 16, "beta_slow": 2.5}
usual = 0.1 * math.log(4) + 1
for where, more, warns in (
        (lambda y: {"rope_scaling": y}, {}, False), (lambda y: {"rope_parameters": y}, {"attention_factor": usual}, False),
        (lambda y: {"rope_parameters": {"full_attention": y}}, {"attention_factor": round(usual, 4)}, False),
        (lambda y: {"rope_scaling": y}, {"attention_factor": 1.5}, True), (lambda y: {"rope_scaling": y}, {"mscale": 0.7, "mscale_all_dim": 0.7}, True),
        (lambda y: {"rope_scaling": y}, {"mscale": 0.7}, False)):
    keys, told, _ = convert("qwen3", where({"rope_type": "yarn", **yarn, **betas, **more}))
    same(keys, scaling__type="yarn", scaling__yarn_beta_fast=16, scaling__yarn_beta_slow=2.5)
    raw = pathlib.Path("out.gguf").read_bytes()
    assert raw[raw.index(b"yarn_beta_fast") + len(b"yarn_beta_fast")] == 6  # f32
    assert [f["severity"] for f in told] == ["warning"] * warns and all("attention_factor" in f["message"] for f in told), (more, told)
    assert back() == ({"rope_type": "yarn", **yarn, **betas}, []), back()
keys, _, _ = convert("qwen3", {"rope_scaling": {"type": "linear", "factor": 2.0, **betas}})
same(keys, scaling__type="linear", scaling__yarn_beta_fast=None)
# The name of Phi 3 is written only if the model has the tokens of Phi 3, because llama.cpp does not load other
# models with this name.
def name_of(tokens, fallback=True):
    shutil.rmtree("in", ignore_errors=True)
    shutil.copytree(twins / "phi3", "in", copy_function=shutil.copyfile)
    for other in "tokenizer.model", "tokenizer.json", "tokenizer_config.json":
        os.remove(f"in/{other}")
    vocab = {t: i for i, t in enumerate(tokens)}
    pathlib.Path("in/tokenizer.json").write_text(json.dumps({"added_tokens": [], "pre_tokenizer": {"type": "ByteLevel"},
        "model": {"type": "BPE", "vocab": vocab, "merges": [], "byte_fallback": fallback}}))
    assert wb("convert", "in", "out.gguf", "--force")[0] == 0
    return wb("inspect", "--metadata", "general.name", "out.gguf")[1].strip()
letters = [chr(97 + i) for i in range(20)]
assert name_of(letters + ["</s>", "<unk>", "<s>", "<|endoftext|>"]) == "Phi-3"
assert name_of(letters + ["</s>", "<unk>", "<s>", "<|end|>"]) == "in"
assert name_of(letters + ["</s>", "<unk>", "<s>", "<|endoftext|>"], fallback=False) == "in"  # Phi 4's kind
P
