"""Compares what `wb export` gives of .npy and .npz files with what NumPy reads: compare_npy.py WB [FILE...]

Without files it writes some: every dtype and both orders of bytes and of dimensions, stored and compressed,
all three versions of the header. Of every array the whole and a slice are compared, bit for bit. Needs numpy.
"""

import io
import os
import subprocess
import sys
import tempfile

import numpy as np

TYPES = "b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8".split()


def make(folder):
    rng = np.random.default_rng(1)
    arrays = {"scalar": np.float32(3.5), "empty": np.zeros((0, 3), "f4"),
              "large": rng.normal(size=(1100, 700)).astype("f4").T}
    for t in TYPES:
        a = rng.integers(0, 2 if t == "b1" else 100, size=(3, 5, 7))
        a = (a + 1j * a[::-1]).astype("c8") if t == "c8" else a.astype(t)
        for order in "<>":
            for columns in (False, True):
                b = a.astype(a.dtype.newbyteorder(order))
                arrays["%s%s%d" % (t, "be" if order == ">" else "le", columns)] = np.asfortranarray(b) if columns else b
    np.savez(os.path.join(folder, "stored.npz"), **arrays)
    np.savez_compressed(os.path.join(folder, "deflated.npz"), **arrays)
    for version in ((1, 0), (2, 0), (3, 0)):
        for name in ("f4le0", "i8be1", "scalar", "empty"):
            with open(os.path.join(folder, "%s.v%d.npy" % (name, version[0])), "wb") as f:
                np.lib.format.write_array(f, np.asanyarray(arrays[name]), version=version)
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder))]


def export(wb, path, name, *options):
    out = subprocess.run([wb, "export", path, name, "-o", "-", *options], capture_output=True)
    if out.returncode != 0:
        sys.exit("%s %s: %s" % (path, name, out.stderr.decode()))
    return np.load(io.BytesIO(out.stdout))


def same(ours, theirs):
    theirs = theirs.astype(theirs.dtype.newbyteorder("<"))
    return ours.shape == theirs.shape and ours.dtype == theirs.dtype and ours.tobytes() == theirs.tobytes(order="C")


def compare(wb, path):
    loaded = np.load(path)
    arrays = loaded if isinstance(loaded, np.lib.npyio.NpzFile) else {"array": loaded}
    count = 0
    for name in arrays:
        a = arrays[name]
        if a.dtype.kind == "V":
            continue
        cuts = [((), ())]
        if a.ndim > 0 and a.size > 0:
            cuts.append((("--slice", "::-2"), np.s_[::-2]))
        if a.ndim > 1 and a.size > 0:
            cuts.append((("--slice", "1:, ::3"), np.s_[1:, ::3]))
        for options, key in cuts:
            if not same(export(wb, path, name, *options), a[key]):
                sys.exit("%s: %s%s differs" % (path, name, options))
            count += 1
    return count


def main():
    wb, files = sys.argv[1], sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder:
        print(sum(compare(wb, path) for path in files or make(folder)), "comparisons, all equal")


main()
