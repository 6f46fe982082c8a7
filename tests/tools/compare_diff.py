#!/usr/bin/env python3
"""Compares the measures of `wb diff --json` with sums made here: compare_diff.py A B [OPTION...]

Values come from `wb export`, one tensor at a time, put into Hugging Face row order here; sums are exact (fsum). Needs
nothing but Python, and uses numpy for large tensors where it is there."""
import array, json, math, subprocess, sys
try:
    import numpy
except ImportError:
    numpy = None

def wb(*args):
    p = subprocess.run(["wb", *args], capture_output=True)
    assert p.returncode in (0, 1), (args, p.stderr)
    return p.stdout

def facts(path, options):
    answer = json.loads(wb("inspect", "--json", "--names", "both", "--no-metadata", *options, path).splitlines()[0])
    config = answer["config"]
    config["gguf"] = answer["format"] == "gguf"
    return config

def values(path, side, name, config, options):
    data = array.array("f")
    data.frombytes(wb("export", *options, path, side["name"], "--dtype", "f32", "--format", "raw", "-o", "-"))
    shape = side["shape"]
    heads = {"q": config["n_heads"], "k": config["n_kv_heads"]}.get(name.split(".")[-2] if "attention." in name else "")
    if config["rope_layout"] == "interleaved" and heads:
        rows = shape[0]
        columns = len(data) // rows
        half = rows // heads // 2
        order = [h * 2 * half + 2 * i + j for h in range(heads) for j in (0, 1) for i in range(half)]
        data = array.array("f", [v for r in order for v in data[r * columns:(r + 1) * columns]])
    if config["gguf"] and config["architecture"].startswith("gemma") and name.endswith("norm.weight"):
        data = array.array("f", [v - 1 for v in data])
    return data

def measures(a, b):
    if numpy is not None:
        x, y = (numpy.frombuffer(v, dtype="<f4") for v in (a, b))
        same = (x.view("<u4") == y.view("<u4")) | (numpy.isnan(x) & numpy.isnan(y))
        fine = numpy.isfinite(x) & numpy.isfinite(y)
        different, odd = int((~same).sum()), int((~same & ~fine).sum())
        x, y = x[fine].astype("f8"), y[fine].astype("f8")
        aa, bb, ab, dd = (float(v.sum()) for v in (x * x, y * y, x * y, (y - x) ** 2))
        most = float(abs(y - x).max()) if len(x) else 0.0
    else:
        different = odd = 0
        pairs = []
        for x, y in zip(a, b):
            same = x == y and math.copysign(1, x) == math.copysign(1, y) or (math.isnan(x) and math.isnan(y))
            different += not same
            if math.isfinite(x) and math.isfinite(y):
                pairs.append((x, y))
            else:
                odd += not same
        aa, bb = math.fsum(x * x for x, y in pairs), math.fsum(y * y for x, y in pairs)
        ab, dd = math.fsum(x * y for x, y in pairs), math.fsum((y - x) ** 2 for x, y in pairs)
        most = max((abs(y - x) for x, y in pairs), default=0.0)
    nmse = dd / aa if aa else (None if dd else 0.0)
    return {"values": len(a), "different": different, "not_finite": odd, "nmse": nmse, "maximum": most,
            "cosine": (ab / math.sqrt(aa * bb) if aa and bb else 0.0) if dd else 1.0,
            "snr": -10 * math.log10(nmse) if nmse else None}

def close(x, y):
    return x == y or (x is not None and y is not None and abs(x - y) <= 1e-11 * max(abs(x), abs(y)))

def main(a, b, *options):
    answer = json.loads(wb("diff", "--json", *options, a, b))
    sides = [(path, facts(path, options)) for path in (a, b)]
    compared, last = 0, None
    for t in answer["tensors"]:
        if "nmse" not in t:
            continue
        data = [values(path, t[key], t["name"], config, options) for (path, config), key in zip(sides, "ab")]
        expected = measures(*data)
        for key, value in expected.items():
            assert close(t[key], value), (t["name"], key, t[key], value)
        assert ("values" in t["differs"]) == (expected["different"] > 0), t
        order = (t["not_finite"] > 0, expected["different"] > 0, math.inf if t["nmse"] is None else t["nmse"])
        assert last is None or last >= order, (t["name"], last, order)
        last = order
        compared += 1
    assert compared > 0
    print(f"{compared} tensors, {answer['totals']['different']} of {answer['totals']['values']} values differ")

if __name__ == "__main__":
    main(*sys.argv[1:])
