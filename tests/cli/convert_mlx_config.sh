# golden
# mlx-lm reads members of config.json that transformers 5 moved into rope_parameters or renamed. A conversion to MLX adds
# them.
check() { # a family, what must hold for the new config c and that of the source s
    rm -rf out && wb convert "$DATA/families/$1" out --to mlx >/dev/null 2>&1
    python3 -B - "$DATA/families/$1" "$2" <<'P'
import json, sys
def once(pairs):
    assert len(dict(pairs)) == len(pairs), pairs
    return dict(pairs)
s = json.load(open(sys.argv[1] + "/config.json"))
c = json.load(open("out/config.json"), object_pairs_hook=once)
assert all(c[k] == v for k, v in s.items()), c
assert eval(sys.argv[2]), c
P
}
check qwen2moe 'c["rope_theta"] == 10000 and type(c["rope_theta"]) is float and c["rope_scaling"] is None'
check glm4 'c["partial_rotary_factor"] == 0.5 and c["head_dim"] == 4'
check ministral3 'c["rope_scaling"] == s["rope_parameters"] and c["rope_theta"] == 1e6'
check olmo3 'c["rope_theta"] == 5e5 and c["rope_local_base_freq"] == 5e5'
check minimax_m2 'c["rotary_dim"] == 4'

# Members that are there stay as they are.
cp -r "$DATA/families/qwen2moe" old
python3 -B - <<'P'
import json
c = json.load(open("old/config.json"))
c.pop("rope_parameters")
c.update(rope_theta=1, rope_scaling={"type": "linear", "factor": 2})
json.dump(c, open("old/config.json", "w"))
P
wb convert old new --to mlx >/dev/null 2>&1
grep -c rope_ new/config.json
grep '"rope_theta": 1,' new/config.json
