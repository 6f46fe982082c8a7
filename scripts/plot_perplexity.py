#!/usr/bin/env python3
"""Draws docs/convert.svg from the table of docs/convert.md: perplexity against size.

plot_perplexity.py [--check]: with --check nothing is written; ends with 1 if the picture is another one.
"""

import math
import os
import sys

DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs")
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 440, 60, 70, 30, 50
CEILING = 21.2  # what is worse is named in the corner


def rows():
    found, inside = [], False
    for line in open(os.path.join(DOCS, "convert.md")):
        cells = [c.strip() for c in line.strip().strip("|").split("|")]
        if cells[:3] == ["file type", "MiB", "perplexity"]:
            inside = True
        elif inside and not line.startswith("|"):
            break
        elif inside and not cells[1].startswith("-"):
            found.append((cells[0], float(cells[1]), float(cells[2])))
    return found


def place(labels, x, y):
    """Moves a label up or down until it covers no other."""
    for step in range(40):
        at = y + 4 + (step + 1) // 2 * 11 * (1 if step % 2 else -1)
        if all(abs(at - b) >= 11 or abs(x - a) >= 62 for a, b in labels):
            break
    labels.append((x, at))
    return at


def draw():
    table = rows()
    shown = [r for r in table if r[2] <= CEILING]
    low_x, high_x = math.log2(min(r[1] for r in shown) * 0.93), math.log2(max(r[1] for r in shown) * 1.05)
    low_y = min(r[2] for r in shown) - 0.05
    across = lambda v: LEFT + (math.log2(v) - low_x) / (high_x - low_x) * (WIDTH - LEFT - RIGHT)
    down = lambda v: HEIGHT - BOTTOM - (v - low_y) / (CEILING - low_y) * (HEIGHT - TOP - BOTTOM)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="11">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
    ]
    for size in (1, 1.5, 2, 3, 4, 6, 8, 11):
        x = across(size)
        out.append(f'<path d="M{x:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#ddd"/>')
        out.append(f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{size:g}</text>')
    for tenth in range(math.ceil(low_y * 5), int(CEILING * 5) + 1):
        y = down(tenth / 5)
        out.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        out.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{tenth / 5:.1f}</text>')
    out.append(f'<text x="{(WIDTH - RIGHT + LEFT) / 2}" y="{HEIGHT - 12}" text-anchor="middle">MiB</text>')
    out.append(f'<text x="{LEFT}" y="{TOP - 12}">perplexity</text>')
    labels = []
    for name, size, perplexity in sorted(shown, key=lambda r: (r[1], r[2])):
        x, y = across(size), down(perplexity)
        out.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="#06c"/>')
        out.append(f'<text x="{x + 6:.1f}" y="{place(labels, x, y):.1f}">{name}</text>')
    beyond = ", ".join(f"{name} {perplexity:.0f}" for name, _, perplexity in table if perplexity > CEILING)
    out.append(f'<text x="{WIDTH - RIGHT}" y="{TOP - 12}" text-anchor="end">beyond: {beyond}</text>')
    return "\n".join(out + ["</svg>", ""])


def main():
    path = os.path.join(DOCS, "convert.svg")
    picture = draw()
    if sys.argv[1:] == ["--check"]:
        same = os.path.exists(path) and open(path).read() == picture
        sys.exit(0 if same else "docs/convert.svg is not of the table: scripts/plot_perplexity.py")
    open(path, "w").write(picture)


main()
