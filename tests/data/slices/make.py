#!/usr/bin/env python3
"""Makes slices.tsv: what NumPy's basic indexing selects. Needs numpy.

Columns: shape, expression, shape of the result, FNV-1a hash of the flat indices selected, each as eight
bytes; or "error" in place of both.
"""
import os
import random
import re

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
SHAPES = [(), (1,), (7,), (0,), (5, 3), (3, 0, 2), (4, 1, 6), (2, 3, 4, 5), (1, 1, 1, 1, 1)]
EXPRESSIONS = """
0|-1|6|7|-7|-8|2:5|:|::|::2|::-1|5:2:-1|-3:|:-3|:100|-100:|100:|3:3|5:2|::100|::-100|6::-3|1:6:2|-2:-6:-2
...|..., 0|0, ...|...,::-1|0,1|1,:|:,1|:, ::2|-1,-1|::-1,::-1|1:3,1:3|:,:|:,:,:|0,0,0|..., 1, :|1, ..., 2
0,0,0,0|:,:,::2,1:4|1,...,2|..., ::2, 0, :|:, 1|0:1,0:1,...|0:0|0:0,...|::3, ..., -1|1:,1:,1:,1:| 1 : 3 , ...
+1|+1:+3|:,|0,|...,|-0|00|007|9999999999999999999999:|:99999999999999999999|:-99999999999999999999
-99999999999999999999|99999999999999999999|::9223372036854775807|::-9223372036854775808|0:9223372036854775807
""".replace("\n", "|").split("|")
BAD = ["1:2:0", "a", "1:b", "...,...", "1,,2", ",", ",1", "1 2", "1:2:3:4", "--1", "-", "1.5", "[0]", "....", "..",
       "0x1", "1;2", "None", ":,...,:,...", "- ", "::-", "1:-"]


def fnv(flat):
    h = 0xCBF29CE484222325
    for index in flat:
        for b in int(index).to_bytes(8, "little"):
            h = (h ^ b) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return h


def expected(shape, text):
    flat = np.arange(int(np.prod(shape)), dtype=np.int64).reshape(shape)
    cleaned = ",".join(part.replace("+", "") for part in text.split(","))
    try:
        # Python knows no 007; here a number is a number
        cleaned = re.sub(r"\b0+(\d)", r"\1", cleaned)
        index = eval(f"np.s_[{cleaned}]", {"np": np}) if cleaned.strip() else ...
        result = flat[index]
    except (IndexError, ValueError, SyntaxError, TypeError, OverflowError):
        return None
    return result


def main():
    r = random.Random(11)

    def number(n):
        return str(r.randrange(-n - 2, n + 3))

    def axis(n):
        if r.random() < 0.3:
            return number(n)
        parts = [number(n) if r.random() < 0.6 else "" for _ in range(r.choice((2, 2, 3)))]
        if len(parts) == 3 and parts[2] == "0":
            parts[2] = "-1"
        return ":".join(parts)

    rows = [(shape, text) for shape in SHAPES for text in EXPRESSIONS]
    rows += [((4, 3, 5), text) for text in BAD]
    for _ in range(600):
        shape = tuple(r.randrange(0, 7) for _ in range(r.randrange(1, 5)))
        parts = [axis(n) for n in shape[:r.randrange(1, len(shape) + 1)]]
        if r.random() < 0.3:
            parts.insert(r.randrange(len(parts) + 1), "...")
        rows.append((shape, r.choice((",", ", ")).join(parts)))
    with open(os.path.join(HERE, "slices.tsv"), "w", newline="\n") as f:
        for shape, text in rows:
            result = None if text in BAD else expected(shape, text)
            cells = ["error", "-"] if result is None else \
                ["x".join(map(str, np.shape(result))) or "-", f"{fnv(np.ravel(result)):016x}"]
            f.write("\t".join(["x".join(map(str, shape)) or "-", text] + cells) + "\n")


main()
