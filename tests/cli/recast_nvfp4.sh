# NVFP4 of ModelOpt and compressed-tensors is copied byte for byte to MLX and GGUF where these can represent it, and
# otherwise decoded.
PYTHONPATH=$SOURCE/tests/cli python3 -B - <<'P'
import json, random, struct
from engine import read
from nvfp4 import EXPERTS, layer, make, near, rows_of, values, wb

random.seed(4)

for kind in "modelopt", "compressed":
    # With a factor for each expert MLX keeps the experts, stacked; single matrices, which it has no factor for, are decoded.
    packed = make(kind, kind, True)
    told = rows_of(kind, kind + ".mlx", "--to", "mlx")
    mlx = read(kind + ".mlx/model.safetensors")
    for name in "gate", "up", "down":
        stem = layer + f"mlp.switch_mlp.{name}_proj"
        parts = [packed[layer + f"mlp.experts.{e}.{name}_proj"] for e in range(EXPERTS)]
        assert mlx[stem + ".weight"][0] == "U32" and mlx[stem + ".weight"][2] == b"".join(p[0] for p in parts)
        assert mlx[stem + ".scales"][0] == "U8" and mlx[stem + ".scales"][2] == b"".join(p[1] for p in parts)
        assert mlx[stem + ".global_scale"][:2] == ("F32", [EXPERTS])
        want = [2688 * p[2] if kind == "modelopt" else 2688 / p[2] for p in parts]
        got = struct.unpack(f"<{EXPERTS}f", mlx[stem + ".global_scale"][2])
        assert all(abs(a - b) <= 1e-7 * a for a, b in zip(want, got)), (want, got)
        assert told[stem + ".weight"]["fidelity"] == "exact" and told[stem + ".global_scale"]["nmse"] < 1e-14
    assert told[layer + "self_attn.q_proj.weight"]["to"] == "BF16"
    assert json.load(open(kind + ".mlx/config.json"))["quantization"] == {"group_size": 16, "bits": 4, "mode": "nvfp4"}
    for name in "mlp.experts.2.up_proj", "mlp.experts.0.down_proj":
        stored = layer + name + (".weight" if kind == "modelopt" else ".weight_packed")
        at = int(name.split(".")[2])
        want = values(kind, stored)
        got = values(kind + ".mlx", layer + "mlp.switch_mlp." + name.split(".")[3] + ".weight")
        assert near(want, got[at * len(want):(at + 1) * len(want)])
    # From MLX to MLX they stay, and to Hugging Face and by a rule they are decoded.
    wb("convert", kind + ".mlx", kind + ".again", "--to", "mlx")
    again = read(kind + ".again/model.safetensors")
    assert {n: t[2] for n, t in again.items()} == {n: t[2] for n, t in mlx.items()}
    assert rows_of(kind, kind + ".hf", "--to", "safetensors", "--quant", "BF16")[layer + "mlp.experts.1.up_proj.weight"]["to"] == "BF16"
    ruled = rows_of(kind, kind + ".rule", "--to", "mlx", "--rule", "up_proj=affine4:64")
    assert ruled[layer + "mlp.switch_mlp.up_proj.weight"]["to"] == "affine4:64"
    assert layer + "mlp.switch_mlp.up_proj.global_scale" not in ruled
    assert ruled[layer + "mlp.switch_mlp.down_proj.weight"]["to"] == "nvfp4"

    # Without a factor both targets have the same blocks.
    packed = make(kind + "-1", kind, False)
    told = rows_of(kind + "-1", kind + "-1.mlx", "--to", "mlx")
    assert told[layer + "self_attn.q_proj.weight"]["to"] == "nvfp4" and {t["fidelity"] for t in told.values()} == {"exact"}
    told = rows_of(kind + "-1", kind + "-1.gguf")
    for name in "attn_q", "ffn_up_exps":
        assert (told[f"blk.0.{name}.weight"]["to"], told[f"blk.0.{name}.weight"]["fidelity"]) == ("NVFP4", "repacked")
    wb("convert", kind + "-1.gguf", kind + "-1.back", "--to", "mlx")
    a, b = read(kind + "-1.mlx/model.safetensors"), read(kind + "-1.back/model.safetensors")
    assert all(a[n][2] == b[n][2] for n in a if "_proj" in n) and set(a) == set(b)
P
