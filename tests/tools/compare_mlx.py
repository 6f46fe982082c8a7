"""What wb convert makes, in the eyes of mlx-lm: compare_mlx.py WB COMMAND MODELS...

    quantize    every tensor of what mlx_lm.convert makes of a folder, in each of its modes and recipes
    logits      a folder, and what comes back of it by way of GGUF, loaded by mlx-lm: the same logits
    experts     NVFP4 with a factor for each expert, of others, loaded by mlx-lm: those of the values decoded

Needs mlx 0.32.4 and mlx-lm 0.32.2 (pip install 'mlx[cpu]==0.32.4' 'mlx-lm==0.32.2'); a folder of models each MODELS is.
Run by hand.
"""
import json, os, shutil, struct, subprocess, sys, tempfile
import mlx.core as mx
import numpy as np
from mlx_lm.convert import convert as mlx_convert
from mlx_lm.utils import load_model
from pathlib import Path

mx.set_default_device(mx.cpu)
WB = os.path.abspath(sys.argv[1])
MODES = [(f"affine{b}:{g}", dict(q_mode="affine", q_bits=b, q_group_size=g))
         for b in (2, 3, 4, 5, 6, 8) for g in (32, 64, 128)]
MODES += [(m, dict(q_mode=m)) for m in ("mxfp4", "mxfp8", "nvfp4")]
MODES += [(m, dict(quant_predicate=m, q_group_size=64)) for m in ("mixed_2_6", "mixed_3_4", "mixed_3_6", "mixed_4_6")]
IDS = [3, 7, 1, 0, 23, 12, 7, 3, 15, 9, 20, 4, 2, 11, 18, 6]
faults = 0


def say(fine, *words):
    global faults
    faults += not fine
    print(*words, "" if fine else "WRONG", flush=True)


def wb(*args):
    subprocess.run([WB, "convert", *args], check=True, stdout=subprocess.DEVNULL)


def tensors(folder):
    found = {}
    for path in sorted(Path(folder).glob("*.safetensors")):
        raw = path.read_bytes()
        n, = struct.unpack("<Q", raw[:8])
        for name, t in json.loads(raw[8:8 + n]).items():
            if name != "__metadata__":
                a, b = t["data_offsets"]
                found[name] = t["dtype"], t["shape"], raw[8 + n + a:8 + n + b]
    return found


def check_quantize(model, scratch):
    for quant, options in MODES:
        ours, theirs = scratch + "/ours", scratch + "/theirs"
        for folder in ours, theirs:
            shutil.rmtree(folder, ignore_errors=True)
        try:
            mlx_convert(model, theirs, quantize=True, **options)
        except Exception as fault:
            print(f"{os.path.basename(model):20s} {quant:10s} mlx-lm refuses: {fault}", flush=True)
            continue
        wb(model, ours, "--to", "mlx", "--quant", quant)
        a, b = tensors(ours), tensors(theirs)
        odd = [n for n in sorted(set(a) | set(b)) if a.get(n) != b.get(n)]
        say(not odd, f"{os.path.basename(model):20s} {quant:10s} {len(b)} tensors", odd[:3])


def logits(folder):
    model, _ = load_model(Path(folder), lazy=True)
    return np.array(model(mx.array([IDS])).astype(mx.float32))[0]


def distance(got, want):
    return np.linalg.norm(got - want) / np.linalg.norm(want)


def check_logits(model, scratch):
    for quant, most in ("F32", 1e-5), ("F16", 1e-2):
        want, got = scratch + "/want", scratch + "/got"
        for folder in want, got:
            shutil.rmtree(folder, ignore_errors=True)
        wb(model, want, "--to", "mlx", "--quant", "F32")
        wb(model, scratch + "/m.gguf", "--quant", quant)
        wb(scratch + "/m.gguf", got, "--to", "mlx", "--quant", "F32")  # mlx has experts on this processor in F32 alone
        off = distance(logits(got), logits(want))
        say(off < most, f"{os.path.basename(model):28s} {quant} {off:.2e}")
    # What MLX packed, as it is in GGUF, and back. Decoded, since mlx adds products up in the dtype of the scales here.
    if "quantization" in json.load(open(model + "/config.json")):
        for folder in want, got, scratch + "/packed":
            shutil.rmtree(folder, ignore_errors=True)
        wb(model, want, "--to", "mlx", "--quant", "F32")
        wb(model, scratch + "/m.gguf")
        wb(scratch + "/m.gguf", scratch + "/packed", "--to", "mlx")
        wb(scratch + "/packed", got, "--to", "mlx", "--quant", "F32")
        off = distance(logits(got), logits(want))
        logits(scratch + "/packed") if "moe" not in model else load_model(Path(scratch + "/packed"), lazy=True)
        say(off < 1e-2, f"{os.path.basename(model):28s} packed {off:.2e}")


def check_experts(model, scratch):
    """model: one with experts. Its weights become NVFP4 with factors, under ModelOpt's names."""
    at, plain = scratch + "/modelopt", scratch + "/plain"
    for folder in at, plain, scratch + "/mlx", scratch + "/f32":
        shutil.rmtree(folder, ignore_errors=True)
    wb(model, plain, "--to", "safetensors", "--quant", "F32")
    os.mkdir(at)
    made, random = {}, np.random.default_rng(1)
    for name, (dtype, shape, raw) in tensors(plain).items():
        if ".experts." not in name:
            made[name] = mx.array(np.frombuffer(raw, np.float32).reshape(shape))
            continue
        values = np.frombuffer(raw, np.float32).reshape(shape)
        factor = np.float32(random.uniform(1e-4, 1e-3))
        words, scales = mx.quantize(mx.array(values / factor / 8), 16, 4, mode="nvfp4")
        made[name] = mx.array(np.array(words).view(np.uint8))
        made[name + "_scale"] = scales
        made[name + "_scale_2"] = mx.array(factor * 8)
    mx.save_safetensors(at + "/model.safetensors", made)
    relabel(at + "/model.safetensors")
    config = json.load(open(plain + "/config.json"))
    config["quantization_config"] = {"quant_method": "modelopt", "quant_algo": "NVFP4"}
    json.dump(config, open(at + "/config.json", "w"))
    wb(at, scratch + "/mlx", "--to", "mlx")
    wb(at, scratch + "/f32", "--to", "mlx", "--quant", "F32")
    # mlx multiplies with a global scale on GPUs alone; that its model takes it, and what it decodes, shows here too.
    load_model(Path(scratch + "/mlx"), lazy=True)
    got, want = mx.load(scratch + "/mlx/model.safetensors"), mx.load(scratch + "/f32/model.safetensors")
    stems = [n[:-len(".global_scale")] for n in got if n.endswith(".global_scale")]
    off = 0
    for stem in stems:
        for e in range(got[stem + ".weight"].shape[0]):
            values = mx.dequantize(got[stem + ".weight"][e], got[stem + ".scales"][e], None, 16, 4, "nvfp4",
                                   global_scale=got[stem + ".global_scale"][e])
            off = max(off, distance(np.array(values.astype(mx.float32)), np.array(want[stem + ".weight"][e])))
    say(off < 1e-6 and stems, f"{os.path.basename(model):28s} {len(stems)} stacks {off:.2e}")


def relabel(path):
    """Scales are E4M3, which MLX calls U8."""
    raw = Path(path).read_bytes()
    n, = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8:8 + n])
    for name, t in header.items():
        if name.endswith("_scale"):
            t["dtype"] = "F8_E4M3"
    text = json.dumps(header).encode()
    Path(path).write_bytes(struct.pack("<Q", len(text)) + text + raw[8 + n:])


CHECKS = {"quantize": check_quantize, "logits": check_logits, "experts": check_experts}
with tempfile.TemporaryDirectory() as scratch:
    for path in sys.argv[3:]:
        CHECKS[sys.argv[2]](path.rstrip("/"), scratch)
sys.exit(faults > 0)
