#!/usr/bin/env python3
"""Works out, from the bytes of each file of safetensors/, what is wrong with it and where.

    offsets.py > safetensors.tsv

A second reading of the rules in docs/format/safetensors.md, which shares nothing with the library: it
holds the whole file, decodes UTF-8 with Python's own decoder, and finds tokens with regular expressions.
It checks its verdicts against those of the official library (safetensors/verdicts.tsv) and fails if one
differs. Where a fault stands:

    a file that ends too early           its end
    the length of the header             0, where the length stands
    what is no safetensors file at all   0
    bad UTF-8                            the first byte of the malformed sequence
    a token that is wrong, or malformed  its first byte (of a bad escape: the backslash; of a control
                                         character or of what cannot begin a token: itself)
    JSON that ends too early             the end of the header
    a field that is missing              the brace that closes the entry
    a field or key that comes twice      the quote that opens the second
    data_offsets, shape, dtype at odds   the quote that opens the tensor's name
    bytes that belong to no tensor       the first of them

Columns: file, then for compatible and for strict mode: verdict, code, offset, tensor or key; "-" where
there is none. Control characters, DEL and backslashes in names are written as the library shows them.
"""
import os
import re
import struct
import sys

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "safetensors")
LIMIT = 100_000_000
DTYPES = dict(BOOL=8, F4=4, F6_E2M3=6, F6_E3M2=6, U8=8, I8=8, F8_E5M2=8, F8_E4M3=8, F8_E8M0=8,
              F8_E4M3FNUZ=8, F8_E5M2FNUZ=8, I16=16, U16=16, F16=16, BF16=16, I32=32, U32=32, F32=32,
              C64=64, F64=64, I64=64, U64=64)


class Refused(Exception):
    def __init__(self, code, at, name=""):
        self.code, self.at, self.name = code, at, name


STRING_PLAIN = re.compile(rb'[^"\\\x00-\x1f]*')
NUMBER = re.compile(rb'-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?')
ESCAPES = {ord(k): v for k, v in zip('"\\/bfnrt', '"\\/\b\f\n\r\t')}


class Header:
    """A recursive descent over the bytes; positions are offsets in the file."""

    def __init__(self, file, end, compatible):
        self.b, self.i, self.end, self.compatible = file[:end], 8, end, compatible
        self.depth = 0

    def deviation(self, code, at, name=""):
        if not self.compatible:
            raise Refused(code, at, name)

    def bad(self, at=None):
        raise Refused("safetensors-json", self.i if at is None else at)

    def peek(self):
        return self.b[self.i] if self.i < self.end else None

    def space(self):
        while self.peek() in (32, 9, 10, 13):
            self.i += 1

    def literal(self, word):
        at = self.i
        if self.b[at:at + len(word)] == word:
            self.i += len(word)
            return
        if word.startswith(self.b[at:self.end]):
            self.bad(self.end)
        self.bad(at)

    def hex4(self, escape_at):
        digits = self.b[self.i:self.i + 4]
        good = re.match(rb'[0-9a-fA-F]*', digits).end()
        if good < len(digits):
            self.bad(escape_at)
        if len(digits) < 4:
            self.bad(self.end)
        self.i += 4
        return int(digits, 16)

    def string(self):
        out = []
        self.i += 1
        while True:
            run = STRING_PLAIN.match(self.b, self.i)
            out.append(run.group().decode())
            self.i = run.end()
            c = self.peek()
            if c is None:
                self.bad(self.end)
            if c == 0x22:
                self.i += 1
                return "".join(out)
            if c < 0x20:
                self.bad()
            at = self.i
            self.i += 1
            c = self.peek()
            if c is None:
                self.bad(self.end)
            if c in ESCAPES:
                self.i += 1
                out.append(ESCAPES[c])
                continue
            if c != ord("u"):
                self.bad(at)
            self.i += 1
            unit = self.hex4(at)
            if 0xDC00 <= unit < 0xE000:
                self.bad(at)
            if 0xD800 <= unit < 0xDC00:
                if self.b[self.i:self.i + 2] != b"\\u":
                    self.bad(at)
                self.i += 2
                low = self.hex4(self.i - 2)
                if not 0xDC00 <= low < 0xE000:
                    self.bad(at)
                unit = 0x10000 + ((unit - 0xD800) << 10) + low - 0xDC00
            out.append(chr(unit))

    def number(self):
        """Its value: an int if it is one of 0 to 2^64-1 in plain digits, else a float."""
        at = self.i
        m = NUMBER.match(self.b, at)
        if m is None:
            self.bad(self.end if self.b[at:] == b"-" else at)
        text = m.group()
        # What begins to go on as a number, but does not: 00, 2.x, 1ex
        rest = re.match(rb"\.|[eE][-+]?|[0-9]", self.b[m.end():])
        if rest and (rest.group() == b"." and not m.group(2) and not m.group(3) or
                     rest.group()[:1] in b"eE" and not m.group(3) or text in (b"0", b"-0") and
                     rest.group().isdigit()):
            self.bad(self.end if m.end() + rest.end() == self.end and not rest.group().isdigit() else at)
        self.i = m.end()
        if not re.search(rb"[-.eE]", text) and len(text) <= 20 and int(text) < 2**64:
            return int(text)
        if float(text) in (float("inf"), float("-inf")):
            self.bad(at)
        return float(text)

    def open(self):
        self.depth += 1
        if self.depth > 127:
            self.bad()
        self.i += 1

    def close(self):
        self.depth -= 1
        self.i += 1

    def members(self):
        """Yields (offset, key) for each member of an object, the cursor at its value."""
        self.open()
        self.space()
        if self.peek() == ord("}"):
            return self.close()
        while True:
            self.space()
            at = self.i
            if self.peek() is None:
                self.bad(self.end)
            if self.peek() != 0x22:
                self.bad()
            key = self.string()
            self.space()
            if self.peek() != ord(":"):
                self.bad(self.i)
            self.i += 1
            self.space()
            yield at, key
            self.space()
            if self.peek() == ord("}"):
                return self.close()
            if self.peek() != ord(","):
                self.bad(self.i)
            self.i += 1

    def elements(self):
        self.open()
        self.space()
        if self.peek() == ord("]"):
            return self.close()
        while True:
            self.space()
            if self.peek() == ord("]"):
                self.bad()
            yield self.i
            self.space()
            if self.peek() == ord("]"):
                return self.close()
            if self.peek() != ord(","):
                self.bad(self.i)
            self.i += 1

    def kind(self):
        """What stands at the cursor, by its first byte; refuses what begins no value."""
        c = self.peek()
        if c is None:
            self.bad(self.end)
        c = chr(c)
        if c in "{[\"tfn":
            return c
        if c in "-0123456789":
            return "0"
        self.bad()

    def scalar(self):
        kind = self.kind()
        if kind == '"':
            return self.string()
        if kind == "0":
            return self.number()
        word, value = {"t": (b"true", True), "f": (b"false", False), "n": (b"null", None)}[kind]
        self.literal(word)
        return value

    def skip(self):
        """Any value; a stack of generators in place of recursion."""
        stack = []
        while True:
            kind = self.kind()
            if kind == "{":
                stack.append(self.members())
            elif kind == "[":
                stack.append(self.elements())
            else:
                self.scalar()
            while stack and next(stack[-1], None) is None:
                stack.pop()
            if not stack:
                return

    def wrong(self, name, want):
        """Refuses the value at the cursor, which is of another kind than `want`."""
        at = self.i
        if self.kind() not in "{[":
            self.scalar()       # what is malformed is that in the first place
        elif self.depth == 127:
            self.bad()
        raise Refused("safetensors-entry", at, name)

    def dtype(self, name):
        at = self.i
        if self.kind() == '"':
            value = self.string()
        elif self.kind() == "{":
            self.deviation("safetensors-spelling", at, name)
            value, count = None, 0
            for key_at, key in self.members():
                count += 1
                if count > 1:
                    raise Refused("safetensors-entry", key_at, name)
                at, value = key_at, key
                if value not in DTYPES:
                    raise Refused("safetensors-dtype", at, name)
                if self.kind() != "n":
                    self.wrong(name, "n")
                self.scalar()
            if count == 0:
                raise Refused("safetensors-entry", self.i - 1, name)
        else:
            self.wrong(name, '"')
        if value not in DTYPES:
            raise Refused("safetensors-dtype", at, name)
        return value

    def integers(self, name, count=None):
        if self.kind() != "[":
            self.wrong(name, "[")
        values = []
        for at in self.elements():
            if self.kind() != "0":
                self.wrong(name, "0")
            value = self.number()
            if not isinstance(value, int) or count is not None and len(values) == count:
                raise Refused("safetensors-entry", at, name)
            values.append(value)
        if count is not None and len(values) < count:
            raise Refused("safetensors-entry", self.i - 1, name)
        return values

    def entry(self, name):
        readers = {"dtype": self.dtype, "shape": self.integers,
                   "data_offsets": lambda n: self.integers(n, 2)}
        found, unknown = {}, set()
        if self.kind() == "[":
            self.deviation("safetensors-spelling", self.i, name)
            order = list(readers)
            for at in self.elements():
                if not order:
                    if self.kind() not in "{[":
                        self.scalar()
                    raise Refused("safetensors-entry", at, name)
                field = order.pop(0)
                found[field] = readers[field](name)
            if order:
                raise Refused("safetensors-entry", self.i - 1, name)
            return found
        if self.kind() != "{":
            self.wrong(name, "{")
        for at, key in self.members():
            if key in readers:
                if key in found:
                    raise Refused("safetensors-entry", at, name)
                found[key] = readers[key](name)
            else:
                if key in unknown:
                    self.deviation("safetensors-duplicate", at, name)
                unknown.add(key)
                self.skip()
        if len(found) < 3:
            raise Refused("safetensors-entry", self.i - 1, name)
        return found

    def metadata(self):
        if self.kind() == "n":
            return self.scalar()
        if self.kind() != "{":
            self.wrong("__metadata__", "{")
        seen = set()
        for at, key in self.members():
            if self.kind() != '"':
                self.wrong(key, '"')
            self.string()
            if key in seen:
                self.deviation("safetensors-duplicate", at, key)
            seen.add(key)

    def padding(self):
        while self.peek() in (32, 9, 10, 13):
            if self.peek() != 32:
                self.deviation("safetensors-spelling", self.i)
            self.i += 1

    def root(self):
        tensors, has_metadata = [], False
        at = self.i
        self.space()
        if self.kind() != "{":
            self.wrong("", "{")
        if self.i != at:
            self.deviation("safetensors-spelling", at)
        for at, key in self.members():
            if key == "__metadata__":
                if has_metadata:
                    raise Refused("safetensors-entry", at, key)
                has_metadata = True
                self.metadata()
            else:
                tensors.append((at, key, self.entry(key)))
        self.padding()
        if self.i < self.end:
            self.bad()
        return tensors


def layout(tensors, file, data_at, compatible):
    last = {}
    repeated = None
    for at, key, entry in tensors:
        if key in last and not compatible and repeated is None:
            repeated = Refused("safetensors-duplicate", at, key)
        last[key] = (at, key, entry)
    if repeated is not None:
        raise repeated
    survivors = [t for t in tensors if last[t[1]][0] == t[0]]
    expected = 0
    for at, key, entry in sorted(survivors, key=lambda t: t[2]["data_offsets"]):
        begin, end = entry["data_offsets"]
        if begin != expected or end < begin:
            raise Refused("safetensors-offsets", at, key)
        count = 1
        for dim in entry["shape"]:
            count *= dim
            if count >= 2**64:
                raise Refused("safetensors-overflow", at, key)
        bits = count * DTYPES[entry["dtype"]]
        if bits >= 2**64:
            raise Refused("safetensors-overflow", at, key)
        if bits % 8:
            raise Refused("safetensors-sub-byte", at, key)
        if bits // 8 != end - begin:
            raise Refused("safetensors-tensor-size", at, key)
        expected = end
    if data_at + expected != len(file):
        raise Refused("safetensors-coverage", min(data_at + expected, len(file)))


def foreign(file):
    """What a file is that is not even framed as safetensors."""
    if file == b"":
        return "file-empty"
    if file.startswith(b"version https://git-lfs"):
        return "git-lfs-pointer"
    if file.startswith(b"GGUF"):
        return "gguf"
    if file.startswith(b'{"'):
        return "json-text"
    return None


def check(file, compatible):
    if len(file) < 8:
        raise Refused("safetensors-header-too-small", len(file))
    n, = struct.unpack("<Q", file[:8])
    if n > LIMIT:
        raise Refused("safetensors-header-too-large", 0)
    if 8 + n > len(file):
        raise Refused("safetensors-header-length", 0)
    try:
        file[8:8 + n].decode()
    except UnicodeDecodeError as e:
        raise Refused("safetensors-utf8", 8 + e.start)
    tensors = Header(file, 8 + n, compatible).root()
    layout(tensors, file, 8 + n, compatible)


def shown(name):
    out = []
    for c in name:
        if c == "\\":
            out.append("\\\\")
        elif ord(c) < 0x20 or 0x7F <= ord(c) < 0xA0:
            out.append("".join("\\x%02x" % b for b in c.encode()))
        else:
            out.append(c)
    return "".join(out) or "-"


def verdict(file, compatible):
    try:
        check(file, compatible)
        return ["accept", "-", "-", "-"]
    except Refused as r:
        framed = len(file) > 8 and file[8:9] == b"{" and struct.unpack("<Q", file[:8])[0] < 1 << 40
        if foreign(file) and not framed:
            return ["reject", foreign(file), "0", "-"]
        return ["reject", r.code, str(r.at), shown(r.name)]


def main():
    official = {}
    for line in open(os.path.join(HERE, "verdicts.tsv"), encoding="utf-8"):
        cells = line.rstrip("\n").split("\t")
        official[cells[0]] = cells[1:3]
    del official["file"]
    wrong = 0
    for name in sorted(official):
        with open(os.path.join(HERE, name), "rb") as f:
            file = f.read()
        both = [verdict(file, True), verdict(file, False)]
        if [v[0] for v in both] != official[name]:
            print(f"{name}: {[v[0] for v in both]}, officially {official[name]}", file=sys.stderr)
            wrong += 1
        print("\t".join([name] + both[0] + both[1]))
    if set(os.listdir(HERE)) - set(official) - {"verdicts.tsv"}:
        print("files without a verdict", file=sys.stderr)
        wrong += 1
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
