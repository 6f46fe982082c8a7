# The same model as a folder and as GGUF: the same config and the same canonical names.
python3 -B - <<'P'
import json, os, subprocess
def ask(path, *args, codes=(0, 1)):
    p = subprocess.run(["wb", "inspect", "--json", "--names", "both", *args, path], capture_output=True)
    assert p.returncode in codes, (path, p.stderr)
    return json.loads(p.stdout)

twins = os.environ["DATA"] + "/twins/"
families = sorted(f[:-5] for f in os.listdir(twins) if f.endswith(".gguf"))
assert len(families) > 8
# GGUF permutes rows of some families, adds 1 to the norms of others, and does not store vocab_size.
own = {"rope_layout", "norm_offset", "quant_bits", "quant_group_size", "vocab_size", "head_dim"}
for family in families:
    a, b = ask(twins + family), ask(twins + family + ".gguf")
    fields = list(a["config"])
    assert len(fields) >= 30 and fields == list(b["config"]), fields
    for field in fields:
        if field not in own:
            assert a["config"][field] == b["config"][field], (family, field, a["config"], b["config"])
    for answer in (a, b):
        assert set(answer["config_sources"]) == {f for f in fields if answer["config"][f] is not None}, family
        assert set(answer["config_sources"].values()) <= {"file", "default", "derived"}
        names = [t["canonical"] for t in answer["tensors"]]
        assert names.count(None) <= 2, (family, names)
    assert {t["canonical"] for t in a["tensors"]} - {None} >= {t["canonical"] for t in b["tensors"]} - {
        None, "rope_freqs.weight"} or family in ("phi3",), (family, a, b)

a = ask(twins + "mixtral", "--layers", "--tokens", "--template", "--metadata")
layers = a["layers"]
assert sum(r["parameters"] for r in layers) == a["totals"]["parameters"], layers
assert sum(r["tensors"] for r in layers) == a["totals"]["tensors"]
assert sum(r["bytes"] for r in layers) == a["totals"]["bytes"]
experts = [r for r in layers if "{e}" in r["name"]]
assert len(experts) == 3 and all(r["first"] == 0 for r in experts), layers
n = a["config"]["n_layers"]
assert all(r["last"] == n - 1 and r["tensors"] == n * a["config"]["n_experts"] for r in experts), experts
assert a["metadata"]["llama.block_count"] == n
assert [t["id"] for t in a["tokens"] or []] == list(range(len(a["tokens"] or [])))
one = ask(twins + "mixtral", "--metadata=llama.block_count")
assert one["key"] == "llama.block_count" and one["value"] == n
assert ask(twins + "mixtral", "--metadata=nothing", codes=[4])["error"]["code"] == "command"
P
