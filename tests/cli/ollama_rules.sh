# The type of each tensor in an Ollama store, compared with the results of Ollama's functions (fb3076099, August
# 2026) for tensors of these names and shapes, for several architectures and all five types. In
# data/ollama/rules.tsv, "-" means unchanged, 4 and 8 mean int4 and int8, and n, m, x mean nvfp4, mxfp4, mxfp8.
PYTHONPATH=$SOURCE/tests/cli python3 -B - "$DATA/ollama/rules.tsv" <<'P'
import json, os, subprocess, sys, zoo
lines = [l.rstrip("\n").split("\t") for l in open(sys.argv[1])]
configs = [json.loads(l[1]) for l in lines if l[0] == "#"]
tensors = [(l[0], [int(n) for n in l[1].split("x")], l[2].split()) for l in lines if l[0] != "#"]
words = {"-": "BF16", "4": "affine4:64", "8": "affine8:64", "n": "nvfp4", "m": "mxfp4", "x": "mxfp8"}
def size(shape):
    n = 1
    for d in shape:
        n *= d
    return n
checked = 0
os.mkdir("m")
zoo.save("m/model.safetensors", [(n, "BF16", s, bytes(2 * size(s))) for n, s, _ in tensors])
for c, config in enumerate(configs):
    open("m/config.json", "w").write(json.dumps(config))
    for q, quant in enumerate(("int4", "int8", "nvfp4", "mxfp4", "mxfp8")):
        p = subprocess.run(["wb", "convert", "m", "m", "--to", "ollama", "--store", "s", "--quant", quant, "--dry-run",
                            "--json"], capture_output=True)
        assert p.returncode == 0, p
        got = {t["name"]: t["to"] for t in json.loads(p.stdout)["tensors"]}
        assert len(got) == len(tensors), (len(got), len(tensors))
        for name, shape, answers in tensors:
            want = words[answers[c][q]]
            assert got[name] == want, (config, quant, name, shape, got[name], want)
            checked += 1
assert checked == len(configs) * 5 * len(tensors) == 5900, checked
P
