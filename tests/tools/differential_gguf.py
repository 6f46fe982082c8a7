#!/usr/bin/env python3
"""Compares verdicts and contents with the public gguf package, on mutated files.

    differential_gguf.py LIBWEIGHBRIDGE.SO [CASES [SEED]]

Needs numpy and gguf (0.19). Sound files are changed at a few places, mostly in their headers, and opened
by both. Where both accept, names, types, shapes, places and bytes of tensors and every entry of the
metadata must agree. Where only one does, the reason must be one of those below, which docs/reliability.md
explains. Prints what disagrees, and how often each outcome came up; exit code 1 after any that is not
explained.
"""
import collections
import ctypes as c
import os
import random
import resource
import signal
import struct
import sys
import tempfile
import warnings

import gguf
import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import compare_gguf as compare  # noqa: E402

# Files that the package rejects and weighbridge accepts: names that are not UTF-8, which it cannot print, and shapes
# without elements that NumPy has no arrays of.
HUGE = "a shape that NumPy cannot hold"
TAKEN = {"UnicodeDecodeError", HUGE}


# Its table has 40 bytes for a block, from the days of binary32 scales; ggml has 36.
Q8_1 = 9


class Slow(Exception):
    pass


def slow(number, frame):
    raise Slow


class Memory(compare.Ours):
    """A file in memory as the library shows it; `refusal` says why not."""

    def __init__(self, lib, file):
        self.lib, self.model, self.error, self.refusal = lib, c.c_void_p(), compare.Error(), None
        self.file = file
        if lib.wb_open_memory(file, c.c_size_t(len(file)), b"x.gguf", None, c.byref(self.model),
                              c.byref(self.error)) != 0:
            self.refusal = self.error.code.decode()

    def metadata(self):
        """Keys may be any bytes here."""
        self.lib.wb_meta_count.restype = c.c_uint64
        for i in range(self.lib.wb_meta_count(self.model)):
            meta = compare.Meta(size=c.sizeof(compare.Meta))
            self.call("wb_meta_at", self.model, c.c_uint64(i), c.byref(meta))
            if meta.file == 2**32 - 1:  # worked out, not written there
                continue
            key = c.string_at(meta.key, meta.key_len)
            yield key.decode(errors="surrogateescape"), meta, self.value(key, meta)


def read(path):
    """The package's view of a file."""
    signal.setitimer(signal.ITIMER_VIRTUAL, 0.25)  # of the processor; a file that is sound takes a hundredth of it
    try:
        reader = gguf.GGUFReader(path)
        metadata = {name: (kind, value) for name, kind, value in compare.their_metadata(reader)}
        tensors = [(t.name, int(t.tensor_type), [int(d) for d in reversed(t.shape)], int(t.data_offset),
                    t.data.tobytes()) for t in reader.tensors]
        return metadata, tensors, reader
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def official(path):
    """The package's view, or a string that says why there is none."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return read(path)
    except Slow:
        return "endless"
    except Exception as e:  # whatever it raises is its way to refuse
        return HUGE if "array is too big" in str(e) else type(e).__name__


BOUNDARIES = [0, 1, 2, 3, 4, 7, 8, 12, 13, 31, 32, 33, 39, 40, 63, 64, 127, 128, 255, 256, 65535, 65536, 2**31 - 1,
              2**31, 2**32 - 1, 2**32, 2**62, 2**63 - 1, 2**63, 2**64 - 1]


def mutate(r, base, header):
    file = bytearray(base)
    for _ in range(r.choice((1, 1, 1, 2, 3))):
        at = r.randrange(header if r.random() < 0.9 and header < len(file) else max(1, len(file)))
        kind = r.random()
        if at >= len(file):
            continue
        if kind < 0.35:
            file[at] = r.randrange(256)
        elif kind < 0.5:
            file[at] ^= 1 << r.randrange(8)
        elif kind < 0.75:
            fmt = r.choice("BHIQ")
            value = r.choice(BOUNDARIES) & (2**(8 * struct.calcsize(fmt)) - 1)
            file[at:at + struct.calcsize(fmt)] = struct.pack("<" + fmt, value)
        elif kind < 0.8:
            del file[at:]
        elif kind < 0.87:
            del file[at:at + r.choice((1, 4, 8, 16))]
        elif kind < 0.94:
            file[at:at] = bytes(r.randrange(256) for _ in range(r.choice((1, 4, 8))))
        else:
            n = r.choice((4, 8, 16, 32))
            to = r.randrange(max(1, header - n))
            file[to:to + n] = file[at:at + n]
    return bytes(file)


def differences(ours, theirs, file):
    """What the two say differently of a file that both accept."""
    metadata, tensors, _ = theirs
    mine = {k: (m, v) for k, m, v in ours.metadata()}
    if list(mine) != list(metadata):
        yield "keys"
        return
    for name, ((kind, bits), value) in metadata.items():
        meta, got = mine[name]
        if meta.type != kind or (bits is not None and meta.bits != bits) or \
                (value is not None and not compare.same(got, value)):
            yield "value"
            return
    own = list(ours.tensors())
    if len(own) != len(tensors):
        yield "number of tensors"
        return
    big = file[4:8] == b"\0\0\0\3"
    for (name, dtype, shape, offset, data), t in zip(own, tensors):
        if name != t[0]:
            yield "name"
        elif dtype != t[1] or shape != t[2]:
            yield "shape or type"
        elif offset != t[3] and data:
            yield "place"
        elif dtype == Q8_1:
            continue
        elif data != t[4] and not big:
            yield "bytes"


def bases(folder):
    path = os.path.join(folder, "base.gguf")
    for alignment, tensors in ((32, 3), (64, 1), (32, 0)):
        w = gguf.GGUFWriter(path, "llama")
        w.add_custom_alignment(alignment)
        w.add_name("n\u00e9")
        w.add_array("tokens", ["a", "bb", ""])
        w.add_array("numbers", [1, 2, 3])
        w.add_float32("eps", 1e-5)
        w.add_bool("yes", True)
        w.add_uint64("big", 2**63)
        w.add_key_value("bytes", [1, 255], gguf.GGUFValueType.ARRAY, gguf.GGUFValueType.UINT8)
        for i in range(tensors):
            w.add_tensor(f"blk.{i}.weight", np.arange(32 * (i + 1), dtype=[np.float32, np.float16, np.int8][i])
                         .reshape(i + 1, 32))
        if tensors == 3:
            w.add_tensor("q", np.zeros((2, 34), dtype=np.uint8), raw_dtype=gguf.GGMLQuantizationType.Q8_0)
        w.write_header_to_file()
        w.write_kv_data_to_file()
        w.write_tensors_to_file()
        w.close()
        data = open(path, "rb").read()
        header = max(64, data.find(b"blk.0") + 160 if tensors else len(data))
        yield data, min(header, len(data))


def main():
    lib = c.CDLL(sys.argv[1])
    lib.wb_close.argtypes = [c.c_void_p]
    lib.wb_open_memory.argtypes = [c.c_char_p, c.c_size_t, c.c_char_p, c.c_void_p, c.c_void_p, c.c_void_p]
    cases = int(sys.argv[2]) if len(sys.argv) > 2 else 20000
    r = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    signal.signal(signal.SIGVTALRM, slow)
    counts, shown, bad = collections.Counter(), collections.Counter(), 0
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        files = list(bases(folder))
        path = os.path.join(folder, "x.gguf")
        for case in range(cases):
            base, header = r.choice(files)
            file = mutate(r, base, header)
            with open(path, "wb") as f:
                f.write(file)
            theirs = official(path)
            ours = Memory(lib, file)
            if ours.refusal is None and not isinstance(theirs, str):
                try:
                    found = list(differences(ours, theirs, file))
                except ValueError as e:
                    found = ["we cannot read what we accepted: " + str(e)]
                outcome = "both accept" + (", " + found[0] if found else "")
                wrong = bool(found)
            elif ours.refusal is None:
                outcome, wrong = f"only we accept: {theirs}", theirs not in TAKEN
                if theirs == HUGE:
                    wrong = all(0 not in shape for _, _, shape, _, _ in ours.tensors())
            elif isinstance(theirs, str):
                outcome, wrong = "both refuse", False
            else:
                # It checks hardly anything: any rule of the format may be broken.
                outcome = f"only the package accepts: {ours.refusal}"
                wrong = not ours.refusal.startswith("gguf-")
            if ours.refusal is None:
                ours.close()
            del theirs
            counts[outcome] += 1
            if wrong:
                bad += 1
                if shown[outcome] < 2:
                    shown[outcome] += 1
                    kept = os.path.join("/tmp", f"differential-{outcome[:40].replace(' ', '-').replace('/', '-')}-{case}.gguf")
                    with open(kept, "wb") as f:
                        f.write(file)
                    print(f"case {case}: {outcome} ({kept})", file=sys.stderr)
    for outcome, n in sorted(counts.items()):
        print(f"  {n:8d} {outcome}")
    print(f"differential: {cases} files, {bad} not explained")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
