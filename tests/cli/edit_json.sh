# wb edit --json has the old and the new value of each change.
cp "$DATA/twins/llama.gguf" m.gguf
wb edit m.gguf --set general.name=first
cat >check.py <<'P'
import json, subprocess, sys

def changes(*args):
    out = subprocess.run(["wb", "edit", *args, "--json"], check=True, capture_output=True, text=True).stdout
    assert out.count("\n") == 1, out
    return json.loads(out)["changes"]

def expect(args, want):
    got = changes(*args)
    assert got == want, (args, got)

m = "m.gguf"
expect([m], [])
expect([m, "--set", "general.name=other", "--set", "general.name=third", "--delete", "general.name", "--dry-run"],
       [{"edit": "set", "name": "general.name", "old": "first", "new": "other"},
        {"edit": "set", "name": "general.name", "old": "other", "new": "third"},
        {"edit": "delete", "name": "general.name", "old": "third"}])
# Each type of value; a key without "old" is new.
values = {"s": ("str:x\"y", 'x"y'), "f": ("f32:0.1", 0.1), "d": ("f64:0.1", 0.1), "i": ("i8:-3", -3), "b": ("true", True),
          "u": ("18446744073709551615", 2**64 - 1), "as": ('["a", "\u00e9"]', ["a", "\u00e9"]), "ai": ("[-1, 2]", [-1, 2]),
          "au": ("u64[]:[18446744073709551615]", [2**64 - 1]), "af": ("[0.5, 1]", [0.5, 1]), "a8": ("u8[]:[255]", [255]),
          "ab": ("[true, false]", [True, False]), "a16": ("i16[]:[-32768]", [-32768]), "ad": ("f64[]:[0.1]", [0.1]),
          "inf": ("f32:inf", None), "a32": ("u32[]:[4294967295]", [2**32 - 1]), "ae": ("i32[]:[]", [])}
sets = [w for k, (v, _) in values.items() for w in ("--set", f"x.{k}={v}")]
new = [{"edit": "set", "name": f"x.{k}", "new": v} for k, (_, v) in values.items()]
got = changes(m, *sets, "--dry-run")
for change in got + new:
    if change["name"] == "x.f":
        change["new"] = round(change["new"], 6)
assert got == new, got
# The old values are those of the file.
changes(m, *sets)
got = changes(m, *[w for k in values for w in ("--delete", f"x.{k}")], "--dry-run")
for change, k in zip(got, values):
    old = round(change["old"], 6) if k == "f" else change["old"]
    assert change == {"edit": "delete", "name": f"x.{k}", "old": change["old"]} and old == values[k][1], change
expect([m, "--set", "x.i=-3"], []) # nothing changes
expect([m, "--rename", "x.i=y.i", "--set", "y.i=4", "--rename", "output.weight=head.weight", "--drop", "token_embd.weight",
        "--dry-run"],
       [{"edit": "rename-key", "name": "x.i", "new": "y.i"}, {"edit": "set", "name": "y.i", "old": -3, "new": 4},
        {"edit": "rename-tensor", "name": "output.weight", "new": "head.weight"},
        {"edit": "drop-tensor", "name": "token_embd.weight"}])
# config.json: values of any type, on one line
config = {"dim": 8, "rope": {"type": "x", "list": [1, -2, 0.5, None, True, {}]}, "gone": "g\n"}
import os
os.mkdir("hf")
json.dump(config, open("hf/config.json", "w"), indent=4)
expect(["hf", "--set", "dim=16", "--set", "rope={\"type\":\n \"yarn\"}", "--set", "new=word", "--delete", "gone", "--rename",
        "dim=dims", "--dry-run"],
       [{"edit": "set", "name": "dim", "old": 8, "new": 16},
        {"edit": "set", "name": "rope", "old": config["rope"], "new": {"type": "yarn"}},
        {"edit": "set", "name": "new", "new": "word"}, {"edit": "delete", "name": "gone", "old": "g\n"},
        {"edit": "rename-key", "name": "dim", "new": "dims"}])
expect(["hf", "--set", "dim=8"], [])
P
python3 -B check.py
wb realign m.gguf --alignment 64 --json | grep -q '"changes":\[\]'
