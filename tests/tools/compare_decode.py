"""Compares what `wb export` decodes with plain numpy models of the rules: compare_decode.py WB MODELS REF

REF is a module with dequantize functions as MLX computes them (golden/mlx/ref.py)."""
import sys, os, json, struct, subprocess, io
import numpy as np
import importlib.util
wb, models, refpath = sys.argv[1:4]
spec = importlib.util.spec_from_file_location("ref", refpath); ref = importlib.util.module_from_spec(spec); spec.loader.exec_module(ref)
import ml_dtypes
NP = {"BF16": ml_dtypes.bfloat16, "F16": np.float16, "F32": np.float32, "U32": np.uint32, "U8": np.uint8}

def read(folder):
    out = {}
    for f in os.listdir(folder):
        if f.endswith(".safetensors"):
            b = open(os.path.join(folder, f), "rb").read()
            n = struct.unpack("<Q", b[:8])[0]
            for k, v in json.loads(b[8:8+n]).items():
                if k != "__metadata__":
                    s, e = v["data_offsets"]
                    out[k] = np.frombuffer(b[8+n+s:8+n+e], NP[v["dtype"]]).reshape(v["shape"])
    return out

def codes(w, bits):
    b = np.unpackbits(w.view(np.uint8).reshape(*w.shape[:-1], -1), axis=-1, bitorder="little")
    b = b.reshape(*w.shape[:-1], -1, bits).astype(np.uint32)
    return (b << np.arange(bits, dtype=np.uint32)).sum(-1)

bad = 0; count = 0
for model in sorted(os.listdir(models)):
    folder = os.path.join(models, model)
    cfg = os.path.join(folder, "config.json")
    if not os.path.exists(cfg): continue
    q = json.load(open(cfg)).get("quantization")
    if not q: continue
    t = read(folder)
    for name in t:
        base = name[:-7]
        if not name.endswith(".weight") or base + ".scales" not in t: continue
        e = q.get(base, q); mode = e.get("mode", "affine"); bits = e["bits"]
        w, s = t[name], t[base + ".scales"]
        c = codes(w, bits); g = c.shape[-1] // s.shape[-1]
        if mode == "affine":
            S = np.repeat(s.astype(np.float32), g, -1); B = np.repeat(t[base + ".biases"].astype(np.float32), g, -1)
            want32 = (c.astype(np.float32) * S).astype(np.float32) + B
            T = s.dtype
            p = (c.astype(np.float32) * S).astype(T).astype(np.float32)
            wantn = (p + B).astype(T)
        else:
            lut = np.array([0,.5,1,1.5,2,3,4,6,-0.,-.5,-1,-1.5,-2,-3,-4,-6], np.float32)
            S = (np.exp2(s.astype(np.float64) - 127).astype(np.float32) if mode.startswith("mx") else s.view(ml_dtypes.float8_e4m3fn).astype(np.float32))
            v = lut[c] if bits == 4 else c.astype(np.uint8).view(ml_dtypes.float8_e4m3fn).astype(np.float32)
            want32 = v * np.repeat(S, g, -1)
            wantn = (v * np.repeat(S.astype(ml_dtypes.bfloat16).astype(np.float32), g, -1)).astype(ml_dtypes.bfloat16)
        for dt, want in (("f32", want32), ("bf16", wantn.astype(ml_dtypes.bfloat16))):
            got = subprocess.run([wb, "export", folder, name, "--dtype", dt, "--format", "raw", "-o", "-"], capture_output=True, check=True).stdout
            count += 1
            if got != want.astype(want.dtype).tobytes():
                bad += 1; a = np.frombuffer(got, want.dtype); print("differs", model, name, dt, (a != want.ravel()).sum(), want.size)
        # a slice
        got = subprocess.run([wb, "export", folder, name, "--dtype", "f32", "--format", "raw", "--slice", "...,1::3,5:-3:7", "-o", "-"], capture_output=True, check=True).stdout
        count += 1
        if got != np.ascontiguousarray(want32[..., 1::3, 5:-3:7]).tobytes(): bad += 1; print("slice differs", model, name)
print(count, "compared,", bad, "differ")
