# An edit of one file of a model checks the names of all its files, and changes the index in the same step.
PYTHONPATH=$SOURCE/tests/cli python3 -B - <<'P'
import json, os, random, shutil, struct, subprocess, zoo

DATA = os.environ["DATA"]
INDEX = "model.safetensors.index.json"

def run(*args, code=0):
    p = subprocess.run(["wb", *args], capture_output=True, text=True)
    assert p.returncode == code, (args, p)
    return p.stdout + p.stderr

def tree(folder):
    return {n: open(os.path.join(folder, n), "rb").read() for n in sorted(os.listdir(folder))}

def fresh(source="models/qwen3-4bit-3shards"):
    shutil.rmtree("m", ignore_errors=True)
    shutil.copytree(os.path.join(DATA, source), "m")
    return json.load(open("m/" + INDEX)) if os.path.exists("m/" + INDEX) else None

def sound(folder="m"):
    p = subprocess.run(["wb", "inspect", "--json", "--no-tensors", folder], capture_output=True, text=True)
    assert p.returncode in (0, 1), p
    answer = json.loads(p.stdout)
    assert not [f for f in answer["findings"] if f["code"].startswith("index")], answer["findings"]

index = fresh()
names = index["weight_map"]
shards = sorted(set(names.values()))
own = {s: sorted(n for n in names if names[n] == s) for s in shards}

# A name that another shard has is refused, by every way, and nothing changes.
before = tree("m")
for option in [], ["--in-place"], ["--dry-run"]:
    for other in own[shards[1]][0], own[shards[2]][-1]:
        text = run("edit", "m/" + shards[0], "--rename", "%s=%s" % (own[shards[0]][0], other), *option, code=4)
        assert "another file of the model already contains" in text, text
        assert tree("m") == before
# The name of a tensor of the same file that is renamed away is free.
a, b = own[shards[0]][:2]
for option in [], ["--in-place"]:
    fresh()
    run("edit", "m/" + shards[0], "--rename", a + "=x", "--rename", b + "=" + a, "--rename", "x=" + b, *option)
    sound()

# The index follows renames and dropped tensors; all other bytes of it stay.
for option in [], ["--in-place"]:
    for style in (dict(indent=2), dict(separators=(",", ":")), dict(indent=4, sort_keys=True), dict(ensure_ascii=False)):
        index = fresh()
        index["metadata"]["note"] = "n\u00e4 \"x\" \\"
        index["metadata"]["total_parameters"] = 10**9
        index["more"] = [{"weight_map": 1}, a]
        text = json.dumps(index, **style) + "\n"
        open("m/" + INDEX, "w").write(text)
        new = 'new "name" \\ \u00e9'
        run("edit", "m/" + shards[0], "--rename", "%s=%s" % (a, new), *option)
        got = open("m/" + INDEX, encoding="utf-8").read()
        said = json.dumps(new, ensure_ascii=False)
        assert json.loads(got)["weight_map"][new] == shards[0] and a not in json.loads(got)["weight_map"]
        want = text.replace(json.dumps(a) + ":", said + ":")
        assert got == want, (got[:300], want[:300])
        sound()
        run("edit", "m/" + shards[0], "--rename", "%s=%s" % (new, a), *option)
        assert open("m/" + INDEX, encoding="utf-8").read() == text
        for drop in [own[shards[0]][0]], [own[shards[0]][-1]], own[shards[0]][1:4], own[shards[0]][:-1], own[shards[1]][3:]:
            index = fresh()
            index["metadata"]["total_parameters"] = 10**9
            open("m/" + INDEX, "w").write(json.dumps(index, **style))
            shard = names[drop[0]]
            run("edit", "m/" + shard, *[x for n in drop for x in ("--drop", n)], *option)
            now = json.load(open("m/" + INDEX))
            assert sorted(now["weight_map"]) == sorted(set(names) - set(drop))
            index["weight_map"] = {k: v for k, v in index["weight_map"].items() if k not in drop}
            lost = index["metadata"]["total_size"] - now["metadata"]["total_size"]
            assert lost > 0 and now["metadata"]["total_parameters"] < 10**9
            index["metadata"] = now["metadata"]
            assert open("m/" + INDEX).read() == json.dumps(index, **style)
            sound()

# Random sequences of renames and drops in every shard: the index equals the files.
random.seed(3)
for turn in range(12):
    fresh()
    for step in range(4):
        where = json.load(open("m/" + INDEX))["weight_map"]
        shard = random.choice(shards)
        mine = sorted(n for n in where if where[n] == shard)
        if not mine:
            continue
        args = []
        for n in random.sample(mine, min(len(mine), 3)):
            args += ["--drop", n] if random.random() < 0.3 else ["--rename", "%s=%s%d" % (n, random.choice("ab\u00e9"), random.randrange(10**6))]
        run("edit", "m/" + shard, *args, *random.choice([[], ["--in-place"]]))
        where = json.load(open("m/" + INDEX))["weight_map"]
        held = {}
        for s in shards:
            with open("m/" + s, "rb") as f:
                held.update({n: s for n in json.loads(f.read(struct.unpack("<Q", f.read(8))[0])) if n != "__metadata__"})
        assert where == held, (args, set(where) ^ set(held))
    assert not [n for n in os.listdir("m") if n.startswith(".")]

# A single file with an index (as mlx-lm writes it), a set named by its index only, an index that does not list the file
fresh("models/gemma3-4bit")
run("edit", "m/model.safetensors", "--rename", "model.norm.weight=other")
assert json.load(open("m/" + INDEX))["weight_map"]["other"] == "model.safetensors"
index = fresh()
text = open("m/" + INDEX).read()
for i, s in enumerate(shards):
    os.rename("m/" + s, "m/part%d.safetensors" % i)
    text = text.replace(s, "part%d.safetensors" % i)
open("m/" + INDEX, "w").write(text)
sound()
text = run("edit", "m/part0.safetensors", "--rename", "%s=%s" % (a, own[shards[1]][0]), code=4)
assert "another file of the model" in text, text
run("edit", "m/part0.safetensors", "--rename", a + "=other")
assert json.load(open("m/" + INDEX))["weight_map"]["other"] == "part0.safetensors"
sound()
before = open("m/" + INDEX).read()
zoo.save("m/own.safetensors", [("q", "F32", [1], bytes(4))])
run("edit", "m/own.safetensors", "--rename", "q=" + own[shards[1]][0])
assert open("m/" + INDEX).read() == before

# Parts of a split GGUF file
os.mkdir("g")
run("convert", os.path.join(DATA, "models/qwen3-bf16"), "g/m.gguf", "--max-shard-size", "60K")
parts = sorted(os.listdir("g"))
assert len(parts) > 1
first, second = (json.loads(run("inspect", "--json", "g/" + p))["files"] for p in parts[:2])
listed = json.loads(run("inspect", "--json", "g"))["tensors"]
one, two = (next(t["name"] for t in listed if t["file"] == i) for i in (0, 1))
text = run("edit", "g/" + parts[0], "--rename", "%s=%s" % (one, two), code=4)
assert "another file of the model" in text
run("edit", "g/" + parts[0], "--rename", "%s=free" % one)

# Damaged indexes, and a set that is not complete
fresh()
for broken in "{", '{"weight_map":{}', '{"weight_map":[]}', '{"weight_map":{"a":"../x"}}':
    open("m/" + INDEX, "w").write(broken)
    before = tree("m")
    run("edit", "m/" + shards[0], "--rename", a + "=x", code=2)
    assert tree("m") == before
fresh()
os.remove("m/" + shards[1])
before = tree("m")
text = run("edit", "m/" + shards[0], "--rename", a + "=x", code=2)
assert shards[1] in text and tree("m") == before
# A stale entry of another file with the new name
index = fresh()
index["weight_map"]["stale"] = shards[1]
open("m/" + INDEX, "w").write(json.dumps(index))
before = tree("m")
assert "the index already lists" in run("edit", "m/" + shards[0], "--rename", a + "=stale", code=4)
assert tree("m") == before

# Hard links: an edit breaks or changes them, and warns.
for option, said in ([], "keep its contents from before the edit"), (["--in-place"], "also changes the other hard links"):
    zoo.save("one.safetensors", [("q", "F32", [1], bytes(4))])
    for n in "two.safetensors", "three.safetensors":
        os.link("one.safetensors", n)
    old = open("two.safetensors", "rb").read()
    for dry in ["--dry-run"], []:
        text = run("edit", "one.safetensors", "--set", "a=b", *option, *dry)
        assert "warning" in text and said in text and "(2)" in text, text
    assert (open("two.safetensors", "rb").read() == old) == (not option)
    text = run("edit", "one.safetensors", "--set", "a=b", *option)
    assert text == "", text  # nothing changes
    os.remove("two.safetensors")
    os.remove("three.safetensors")
    text = run("edit", "one.safetensors", "--set", "a=c", "--json", *option)
    assert json.loads(text)["links"] == 0
fresh()
os.link("m/config.json", "config.json")
text = run("edit", "m", "--set", "vocab_size=7")
assert "warning" in text and "keep its contents" in text, text
P
