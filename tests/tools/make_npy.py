"""Makes tests/data/npy and tests/data/bad/npy. Needs numpy and ml_dtypes.

    python3 make_npy.py tests/data

Element i, in row-major order, of every good array of dtype t is (i * 7 + 3) % 100, of floats a quarter of
that, of booleans i % 2; the imaginary part of complex numbers is minus the real one.

A bad file is called VERDICT_CODE_atOFFSET_WHAT: what `wb verify` says of it, 0 sound, 1 warnings or
errors in values, 2 refused, and the code and offset of the worst finding ("none" where it has none).
"""

import io
import os
import struct
import sys
import zipfile
import zlib

import ml_dtypes
import numpy as np

TYPES = "b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8".split()


def values(shape, t):
    i = np.arange(int(np.prod(shape, dtype=int)), dtype="i8").reshape(shape)
    if t == "b1":
        return (i % 2).astype("?")
    v = (i * 7 + 3) % 100
    if t == "c8":
        return (v / 4 - 1j * (v / 4)).astype("c8")
    return (v / 4 if t[0] == "f" else v).astype(t)


def arrays(shape):
    out = {}
    for t in TYPES:
        a = values(shape, t)
        out[t] = a
        out[t + ".columns"] = np.asfortranarray(a)
        if t[1] != "1":
            out[t + ".swapped"] = a.astype(">" + t)
            out[t + ".both"] = np.asfortranarray(a.astype(">" + t))
    out["bf16"] = values(shape, "f4").astype(ml_dtypes.bfloat16)
    out["scalar"] = values((), "f4")
    out["empty"] = values((0, 3), "f4")
    out["deep/name.weight"] = values((1, 4, 1), "i4").T
    return out


def npy(a, version=(1, 0)):
    b = io.BytesIO()
    np.lib.format.write_array(b, a, version=version)
    return b.getvalue()


def header(text, version=1, data=b""):
    text = text.encode("latin1")
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text + data


def dict_of(descr="'<f4'", order="False", shape="(2,)"):
    return "{'descr': %s, 'fortran_order': %s, 'shape': %s, }" % (descr, order, shape)


class Zip:
    """An archive, every field of which can be made wrong."""

    def __init__(self):
        self.body = b""
        self.entries = []

    def add(self, name, data, method=0, flags=0, local=None, central=None, extra=b"", entry_extra=b"",
            packed=None, after=b"", at=None):
        if packed is None:
            c = zlib.compressobj(9, zlib.DEFLATED, -15)
            packed = c.compress(data) + c.flush() if method == 8 else data
        f = dict(flags=flags, method=method, crc=zlib.crc32(data), packed=len(packed),
                 bytes=len(data), name=name.encode("latin1"))
        lf = dict(f, **(local or {}))
        ef = dict(f, at=len(self.body) if at is None else at)
        ef.update(central or {})
        if at is None:
            self.body += struct.pack("<IHHHHHIIIHH", 0x04034B50, 20, lf["flags"], lf["method"], 0, 33,
                                     lf["crc"], lf["packed"], lf["bytes"], len(lf["name"]), len(extra))
            self.body += lf["name"] + extra + packed + after
        self.entries.append(
            struct.pack("<IHHHHHHIIIHHHHHII", 0x02014B50, 20, 20, ef["flags"], ef["method"], 0, 33,
                        ef["crc"], ef["packed"], ef["bytes"], len(ef["name"]), len(entry_extra), 0, ef.get("disk", 0),
                        0, 0, ef["at"]) + ef["name"] + entry_extra)
        return self

    def entry_at(self, i):
        return len(self.body) + sum(map(len, self.entries[:i]))

    def end(self, count=None, bytes=None, at=None, comment=b"", disk=0, here=None):
        d = b"".join(self.entries)
        n = len(self.entries) if count is None else count
        return struct.pack("<IHHHHIIH", 0x06054B50, disk, 0, n if here is None else here, n,
                           len(d) if bytes is None else bytes, len(self.body) if at is None else at,
                           len(comment)) + comment

    def end64(self, **change):
        d = b"".join(self.entries)
        f = dict(size=44, disk=0, here=len(self.entries), count=len(self.entries), bytes=len(d),
                 at=len(self.body), record=len(self.body) + len(d), disks=1)
        f.update(change)
        return struct.pack("<IQHHIIQQQQ", 0x06064B50, f["size"], 45, 45, f["disk"], 0, f["here"],
                           f["count"], f["bytes"], f["at"]) + struct.pack("<IIQI", 0x07064B50, 0, f["record"], f["disks"])

    def done(self, tail=None, **end):
        return self.body + b"".join(self.entries) + (self.end(**end) if tail is None else tail)


ONE = npy(values((2, 3), "f4"))  # 128 bytes of header, 24 of data
DATA = 30 + len("a.npy")
DIRECTORY = DATA + len(ONE)


def one(**change):
    return Zip().add("a.npy", ONE, **change)


def bad():
    def put(verdict, code, at, what, data, kind="npy"):
        files["%d_%s_at%s_%s.%s" % (verdict, code, at, what, kind)] = data

    files = {}
    good = ONE
    # ---- one array ----
    for i, name in ((3, "magic"), (7, "version"), (9, "length"), (40, "header")):
        put(2, "npy-truncated", i, "in_" + name, good[:i])
    put(2, "npy-extent", 128, "in_data", good[:140])
    put(2, "npy-version", 6, "0", good[:6] + b"\0\0" + good[8:])
    put(2, "npy-version", 6, "4", good[:6] + b"\4\0" + good[8:])
    put(2, "npy-version", 6, "1_1", good[:6] + b"\1\1" + good[8:])
    put(2, "npy-header-too-large", 8, "2p32", good[:6] + b"\2\0" + b"\xff" * 4 + good[12:])
    put(2, "npy-header-too-large", 8, "65537", header(dict_of() + " " * (65537 - len(dict_of())), 2, bytes(8)))
    put(1, "npy-trailing", len(good), "second_array", good + good)
    put(1, "npy-trailing", len(good), "a_byte", good + b"\0")
    put(1, "values-nan", 128, "nan", npy(np.array([1, np.nan], "f4")))
    descr = 10 + len("{'descr': ")
    for what, d in (("O", "'|O'"), ("bare_O", "'O'"), ("O8", "'<O8'")):
        put(2, "npy-objects", descr, what, header(dict_of(d), data=bytes(16)))
    put(2, "npy-objects", descr, "in_record", header(dict_of("[('x', '<f4'), ('y', '|O')]"), data=bytes(24)))
    for what, d in (("text_S", "'|S5'"), ("text_U", "'<U3'"), ("date", "'<M8[s]'"), ("span", "'<m8[s]'"),
                    ("c16", "'<c16'"), ("f16", "'<f16'"), ("V1_fp8", "'<V1'"), ("V4", "'|V4'"), ("i3", "'<i3'"),
                    ("empty", "''"), ("order_only", "'<'"), ("name", "'float32'"), ("f4_bare", "'f4'"),
                    ("record", "[('x', '<f4')]"), ("subarray", "('<f4', (2,))"), ("c8_long", "'<f44'")):
        put(2, "npy-dtype", descr, what, header(dict_of(d), data=bytes(64)))
    put(2, "npy-header", descr, "order_native", header(dict_of("'=f4'"), data=bytes(8)))
    put(2, "npy-header", descr, "order_not_said", header(dict_of("'|f4'"), data=bytes(8)))

    def syntax(what, text, after, data=bytes(8)):
        """The fault stands right behind `after`, or where that number says."""
        at = after if isinstance(after, int) else text.index(after) + len(after)
        put(2, "npy-header", 10 + at, what, header(text, data=data))

    syntax("no_dict", "[1]", 0)
    syntax("empty_header", "", 0)
    syntax("empty_dict", "{}", "{}")
    syntax("dict_ends", dict_of()[:-2], len(dict_of()) - 2)
    syntax("key_missing", "{'descr': '<f4', 'shape': (2,)}", len("{'descr': '<f4', 'shape': (2,)}"))
    syntax("key_twice", "{'descr': '<f4', 'descr': '<f8', 'fortran_order': False, 'shape': (2,)}", "'<f4', 'descr'")
    syntax("key_other", "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'x': 1}", "'x'")
    syntax("key_no_string", "{1: 2}", 1)
    syntax("no_colon", "{'descr' '<f4'}", "'descr' ")
    syntax("no_comma", "{'descr': '<f4' 'fortran_order': False, 'shape': (2,)}", "'<f4' ")
    syntax("call", dict_of("__import__('os')"), "'descr': ")
    syntax("string_escape", dict_of("'<f\\x34'"), "'<f")
    syntax("string_ends", "{'descr': '<f4", len("{'descr': '<f4"))
    syntax("string_newline", "{'descr': '<f\n4'}", "'<f")
    syntax("order_1", dict_of(order="1"), "'fortran_order': ")
    syntax("order_lower", dict_of(order="false"), "'fortran_order': ")
    syntax("shape_list", dict_of(shape="[2]"), "'shape': ")
    syntax("shape_number", dict_of(shape="2"), "'shape': ")
    syntax("shape_no_comma", dict_of(shape="(2)"), "(2)")
    syntax("shape_two_commas", dict_of(shape="(2,,)"), "(2,")
    syntax("shape_negative", dict_of(shape="(-2,)"), "'shape': (")
    syntax("shape_sum", dict_of(shape="(1+1,)"), "(1")
    syntax("shape_float", dict_of(shape="(2.0,)"), "(2")
    syntax("shape_hex", dict_of(shape="(0x2,)"), "(0")
    syntax("shape_leading_0", dict_of(shape="(02,)"), "(02")
    syntax("shape_underscore", dict_of(shape="(1_0,)"), "(1")
    syntax("shape_2p64", dict_of(shape="(18446744073709551616,)"), "(1844674407370955161")
    syntax("after_dict", dict_of() + " x", len(dict_of()) + 1)
    syntax("nul_after_dict", dict_of() + "\0", len(dict_of()))
    for what, shape in (("wrap_to_0", "(4294967296, 4294967296)"), ("bytes_2p64", "(4611686018427387904,)"),
                        ("2p63_by_3", "(9223372036854775808, 3)")):
        put(2, "npy-overflow", 10, what, header(dict_of(shape=shape), data=bytes(8)))
    put(2, "npy-extent", 10 + len(dict_of(shape="(1099511627776,)")), "shape_2p40",
        header(dict_of(shape="(1099511627776,)"), data=bytes(8)))
    put(0, "-", "none", "huge_but_empty", header(dict_of(shape="(0, 1099511627776)")))
    put(0, "-", "none", "python2_long", header(dict_of(shape="(2L,)"), data=bytes(8)))
    put(0, "-", "none", "spelled_otherwise", header('{"shape":(2),"descr":"<f4","fortran_order":True}'.replace("(2)", "(2,)"), data=bytes(8)))
    put(0, "-", "none", "version_2", npy(values((2, 3), "f4"), (2, 0)))
    put(0, "-", "none", "version_3", npy(values((2, 3), "f4"), (3, 0)))
    put(0, "-", "none", "no_padding", header(dict_of(), data=bytes(8)))

    # ---- archives ----
    z = lambda *a: put(*a, "npz")
    whole = one().done()
    z(0, "-", "none", "plain", whole)
    z(0, "-", "none", "deflated", one(method=8).done())
    z(0, "-", "none", "comment", one().done(comment=b"a comment"))
    z(0, "-", "none", "no_members", Zip().done())
    z(0, "-", "none", "other_members", one().add("config.json", b"{}").add("folder/", b"").done())
    z(0, "-", "none", "local_zip64", one(local=dict(packed=0xFFFFFFFF, bytes=0xFFFFFFFF),
                                         extra=struct.pack("<HHQQ", 1, 16, len(ONE), len(ONE))).done())
    z(0, "-", "none", "aligned_by_zeros", one(extra=b"\0\0\0").done())
    z(0, "-", "none", "zip64", one().done(one().end64() + one().end(count=0xFFFF, bytes=0xFFFFFFFF, at=0xFFFFFFFF)))
    z(0, "-", "none", "zip64_not_needed", one().done(one().end64() + one().end()))
    z(0, "-", "none", "utf8_name", Zip().add("\xc3\xa9.npy", ONE, flags=0x800).done())
    wide = struct.pack("<HHQQQ", 1, 24, len(ONE), len(ONE), 0)
    full = dict(packed=0xFFFFFFFF, bytes=0xFFFFFFFF, at=0xFFFFFFFF)
    z(0, "-", "none", "entry_zip64", one(central=full, entry_extra=wide).done())
    open_local = dict(crc=0, packed=0, bytes=0)
    for what, form in (("32", "<IIII"), ("64", "<IIQQ")):
        d = struct.pack(form, 0x08074B50, zlib.crc32(ONE), len(ONE), len(ONE))
        z(0, "-", "none", "descriptor_" + what, one(flags=8, local=open_local, after=d).done())
        z(0, "-", "none", "descriptor_bare_" + what, one(flags=8, local=open_local, after=d[4:]).done())
    d = struct.pack("<IIII", 0x08074B50, zlib.crc32(ONE) ^ 1, len(ONE), len(ONE))
    z(2, "npz-local-header", DIRECTORY, "descriptor_other", one(flags=8, local=open_local, after=d).done())
    z(2, "npz-local-header", DIRECTORY, "descriptor_missing", one(flags=8, local=open_local).done())
    z(2, "npz-local-header", 0, "sizes_open_without_descriptor", one(local=open_local).done())

    for i in (40, DIRECTORY, DIRECTORY + 30, len(whole) - 1):
        z(2, "npz-end", i, "cut", whole[:i])
    z(2, "npz-end", len(whole) + 1, "byte_behind", whole + b"\0")
    z(2, "npz-end", 7 + len(whole) - 22, "prepended", b"#!/bin/" + whole)
    both = one().done(comment=Zip().done())
    z(2, "npz-end", len(both) - 44, "two_ends", both)
    z(2, "npz-end", len(whole) - 22, "directory_size_larger", one().done(bytes=52))
    z(2, "npz-end", len(whole) - 22, "directory_at_0", one().done(at=0))
    z(2, "npz-end", len(whole) - 22, "directory_past_end", one().done(at=0xFFFFFFFE))
    z(2, "npz-split", len(whole) - 22, "disk_1", one().done(disk=1))
    z(2, "npz-split", len(whole) - 22, "entries_on_this_disk", one().done(count=2, here=1))
    z(2, "npz-split", DIRECTORY, "entry_on_disk_1", one(central=dict(disk=1)).done())
    z(2, "npz-entry", len(whole) - 22, "count_65534", one().done(count=0xFFFE))
    two = one().add("b.npy", ONE)
    z(2, "npz-entry", two.entry_at(1), "count_1_of_2", two.done(count=1))
    long = one()
    long.entries[0] += bytes(50)
    z(2, "npz-entry", DIRECTORY + 51, "count_2_of_1", long.done(count=2))
    saturated = one().end(count=0xFFFF, bytes=0xFFFFFFFF, at=0xFFFFFFFF)
    record = DIRECTORY + 51
    z(2, "npz-end", record, "zip64_missing", one().done(saturated))
    z(2, "npz-end", record + 56, "zip64_elsewhere", one().done(one().end64(record=record - 1) + saturated))
    z(2, "npz-end", record + 56, "zip64_size", one().done(one().end64(size=45) + saturated))
    z(2, "npz-end", record, "zip64_contradicts", one().done(one().end64() + one().end(count=2)))
    z(2, "npz-end", record, "zip64_directory_2p63", one().done(one().end64(at=1 << 63) + saturated))
    z(2, "npz-end", record, "zip64_directory_wraps", one().done(one().end64(at=2**64 - 1, bytes=record + 1) + saturated))
    z(2, "npz-entry", record, "zip64_count_2p63", one().done(one().end64(count=1 << 63, here=1 << 63) + saturated))
    z(2, "npz-split", record + 56, "zip64_disks", one().done(one().end64(disks=2) + saturated))
    z(2, "npz-split", record, "zip64_here", one().done(one().end64(here=2) + saturated))

    broken = one()
    broken.entries[0] = b"PK\1\3" + broken.entries[0][4:]
    z(2, "npz-entry", DIRECTORY, "signature", broken.done())
    z(2, "npz-entry", DIRECTORY, "stored_of_two_sizes", one(central=dict(packed=100)).done())
    z(2, "npz-entry", DIRECTORY, "extra_past_end", one(entry_extra=b"\1\0\xff\0").done())
    z(2, "npz-entry", DIRECTORY, "zip64_not_needed", one(entry_extra=wide).done())
    z(2, "npz-entry", DIRECTORY, "zip64_twice", one(central=full, entry_extra=wide + wide).done())
    z(2, "npz-entry", DIRECTORY, "other_name", one(entry_extra=struct.pack("<HHBI", 0x7075, 10, 1, 0) + b"b.npy").done())
    z(2, "npz-flags", DIRECTORY, "encrypted", one(flags=1).done())
    z(2, "npz-flags", DIRECTORY, "strong_encryption", one(flags=0x40).done())
    z(2, "npz-flags", DIRECTORY, "masked", one(flags=0x2000).done())
    z(2, "npz-flags", DIRECTORY, "patch", one(flags=0x20).done())
    z(2, "npz-flags", DIRECTORY, "encrypted_in_directory_only", one(central=dict(flags=1)).done())
    z(2, "npz-method", DIRECTORY, "bzip2", one(method=12).done())
    z(2, "npz-method", DIRECTORY, "zstd", one(method=93).done())
    unnamed = one().add("", ONE)
    z(2, "npz-name", unnamed.entry_at(1), "empty", unnamed.done())
    z(2, "npz-name", 30 + 8 + len(ONE), "nul", Zip().add("a\0.x.npy", ONE).done())
    z(2, "npz-name", DIRECTORY, "cp437", Zip().add("\x80.npy", ONE).done())
    z(2, "npz-name", DIRECTORY, "bad_utf8", Zip().add("\x80.npy", ONE, flags=0x800).done())

    z(2, "npz-local-header", 0, "signature", b"PK\3\5" + whole[4:])
    z(2, "npz-local-header", 0, "name", one(local=dict(name=b"b.npy")).done())
    z(2, "npz-local-header", 0, "name_length", one(local=dict(name=b"aa.npy")).done())
    z(2, "npz-local-header", 0, "flags", one(local=dict(flags=1)).done())
    z(2, "npz-local-header", 0, "method", one(local=dict(method=8)).done())
    z(2, "npz-local-header", 0, "crc", one(local=dict(crc=0)).done())
    z(2, "npz-local-header", 0, "size", one(local=dict(bytes=1)).done())
    z(2, "npz-local-header", 0, "packed_size", one(local=dict(packed=1)).done())
    z(2, "npz-local-header", 0, "zip64_other", one(local=dict(packed=0xFFFFFFFF, bytes=0xFFFFFFFF),
                                                  extra=struct.pack("<HHQQ", 1, 16, 1, len(ONE))).done())
    z(2, "npz-local-header", 0, "zip64_half", one(local=dict(packed=0xFFFFFFFF, bytes=0xFFFFFFFF),
                                                  extra=struct.pack("<HHQ", 1, 8, len(ONE))).done())
    z(2, "npz-local-header", 0, "extra_past_end", one(extra=b"\1\0\xff\0").done())
    z(2, "npz-extent", DIRECTORY, "local_in_directory", one(central=dict(at=DIRECTORY)).done())
    z(2, "npz-extent", DIRECTORY, "local_at_2p32", one(central=dict(at=0xFFFFFFFE)).done())
    z(2, "npz-extent", DIRECTORY, "data_in_directory", one(central=dict(packed=200, bytes=200), local=dict(packed=200, bytes=200)).done())
    z(2, "npz-extent", 0, "local_extra_in_directory", whole[:28] + b"\xff\xff" + whole[30:])

    twice = one().add("a.npy", ONE)
    z(2, "npz-duplicate", twice.entry_at(1), "name", twice.done())
    shared = one().add("a.npy", ONE, at=0)
    z(2, "npz-overlap", shared.entry_at(1), "same_member_twice", shared.done())
    inner = Zip().add("b.npy", ONE).body
    nested = one().add("a.bin", inner).add("b.npy", ONE, at=DIRECTORY + 35)
    z(2, "npz-overlap", nested.entry_at(2), "member_in_member", nested.done())
    gap = Zip()
    gap.body = b"PK\3\4" + bytes(12)
    gap.add("a.npy", ONE)
    z(1, "npz-gap", 0, "before", gap.done())
    z(1, "npz-gap", DIRECTORY, "between", one(after=b"hidden").add("b.npy", ONE).done())
    z(1, "checksum", DATA + 128, "crc_of_data", one(local=dict(crc=1), central=dict(crc=1)).done())
    flipped = bytearray(whole)
    flipped[DATA + 130] ^= 1
    z(1, "checksum", DATA + 128, "bit_of_data", bytes(flipped))
    z(1, "checksum", DATA, "crc_of_deflated", one(method=8, local=dict(crc=1), central=dict(crc=1)).done())

    c = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = c.compress(ONE) + c.flush()
    n = 30 + 5 + len(packed)
    z(2, "deflate", DATA, "empty_stream", Zip().add("a.npy", ONE, method=8, packed=b"\3\0").done())
    z(2, "deflate", DATA, "reserved_block", Zip().add("a.npy", ONE, method=8, packed=b"\7" + bytes(20)).done())
    z(1, "deflate", DATA, "cut", Zip().add("a.npy", ONE, method=8, packed=packed[:-3]).done())
    z(1, "deflate", DATA, "more_behind", Zip().add("a.npy", ONE, method=8, packed=packed + b"\0").done())
    c = zlib.compressobj(9, zlib.DEFLATED, -15)
    longer = c.compress(ONE + b"\0") + c.flush()
    z(1, "deflate", DATA, "longer", Zip().add("a.npy", ONE, method=8, packed=longer).done())
    z(2, "npz-expansion", 30 + 5 + len(packed), "more_than_deflate_can",
      one(method=8, central=dict(bytes=1032 * len(packed) + 1), local=dict(bytes=1032 * len(packed) + 1)).done())
    z(2, "npz-expansion", 30 + 5, "from_nothing", Zip().add("a.npy", ONE, method=8, packed=b"").done())
    z(2, "npy-extent", DATA, "shorter_member", Zip().add("a.npy", ONE[:-4]).done())
    z(2, "npy-extent", DATA, "longer_member", Zip().add("a.npy", ONE + b"\0").done())
    z(2, "npy-magic", DATA, "no_array", Zip().add("a.npy", b"not an array").done())
    z(2, "npy-magic", DATA, "deflated_no_array", Zip().add("a.npy", b"not an array", method=8).done())
    z(2, "npy-truncated", DATA + 5, "short_array", Zip().add("a.npy", ONE[:5]).done())
    z(2, "npy-truncated", DATA, "empty_array", Zip().add("a.npy", b"").done())
    z(2, "npy-objects", DATA + 20, "objects", Zip().add("a.npy", header(dict_of("'|O'"), data=bytes(16))).done())
    z(2, "npy-objects", DATA, "deflated_objects", Zip().add("a.npy", header(dict_of("'|O'"), data=bytes(16)), method=8).done())
    return files


def write(folder, name, data):
    with open(os.path.join(folder, name), "wb") as f:
        f.write(data)


def main():
    good, bad_folder = os.path.join(sys.argv[1], "npy"), os.path.join(sys.argv[1], "bad", "npy")
    for folder in (good, bad_folder):
        os.makedirs(folder, exist_ok=True)
        for old in os.listdir(folder):
            os.unlink(os.path.join(folder, old))
    a = arrays((3, 4, 5))
    np.savez(os.path.join(good, "stored.npz"), **a)
    np.savez_compressed(os.path.join(good, "deflated.npz"), **a)
    np.savez_compressed(os.path.join(good, "large.npz"), a=np.arange(700 * 301, dtype="u4").reshape(700, 301) // 99)
    for t in ("f4", "f4.columns", "f4.swapped", "i8.both", "b1", "c8", "bf16", "scalar", "empty"):
        np.save(os.path.join(good, t + ".npy"), a[t])
    for name, data in bad().items():
        write(bad_folder, name, data)


main()
