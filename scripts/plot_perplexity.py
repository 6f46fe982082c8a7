#!/usr/bin/env python3
"""Draws docs/convert.svg from the table of docs/dev/measurements.md: perplexity against size.

plot_perplexity.py [--check]: with --check nothing is written; ends with 1 if the picture is another one.
"""

import math
import os
import sys

DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs")
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 560, 60, 70, 30, 50
GROUND = 20.1  # values above this are drawn on a logarithmic scale


def rows():
    found, inside = [], False
    for line in open(os.path.join(DOCS, "dev", "measurements.md")):
        cells = [c.strip() for c in line.strip().strip("|").split("|")]
        if cells[:3] == ["file type", "MiB", "perplexity"]:
            inside = True
        elif inside and not line.startswith("|"):
            break
        elif inside and not cells[1].startswith("-"):
            found.append((cells[0], float(cells[1]), float(cells[2])))
    return found


def place(labels, name, x, y):
    """Moves a label up or down until it covers no other and stays in the picture."""
    end = x + 10 + 7 * len(name)
    for step in range(80):
        at = y + 4 + (step + 1) // 2 * 6 * (1 if step % 2 else -1)
        if at < HEIGHT - BOTTOM and all(abs(at - b) >= 11 or end <= a or x >= z for a, z, b in labels):
            break
    labels.append((x, end, at))
    return at


def draw():
    table = rows()
    low_x, high_x = math.log2(min(r[1] for r in table) * 0.93), math.log2(max(r[1] for r in table) * 1.05)
    height = lambda v: math.log(v - GROUND)
    low_y, high_y = height(min(r[2] for r in table)) - 0.3, height(max(r[2] for r in table)) + 0.3
    across = lambda v: LEFT + (math.log2(v) - low_x) / (high_x - low_x) * (WIDTH - LEFT - RIGHT)
    down = lambda v: HEIGHT - BOTTOM - (height(v) - low_y) / (high_y - low_y) * (HEIGHT - TOP - BOTTOM)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="11">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
    ]
    for size in (0.6, 0.8, 1, 1.5, 2, 3, 4, 6, 8, 11):
        x = across(size)
        out.append(f'<path d="M{x:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#ddd"/>')
        out.append(f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{size:g}</text>')
    for value in (20.2, 20.3, 20.4, 20.6, 21, 22, 25, 30, 40, 60):
        y = down(value)
        out.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        out.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{value:g}</text>')
    out.append(f'<text x="{(WIDTH - RIGHT + LEFT) / 2}" y="{HEIGHT - 12}" text-anchor="middle">MiB</text>')
    out.append(f'<text x="{LEFT}" y="{TOP - 12}">perplexity</text>')
    labels = []
    for name, size, perplexity in sorted(table, key=lambda r: (r[1], r[2])):
        x, y = across(size), down(perplexity)
        at = place(labels, name, x, y)
        out.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="#06c"/>')
        if abs(at - 4 - y) > 6:
            out.append(f'<path d="M{x:.1f} {y:.1f}L{x + 5:.1f} {at - 4:.1f}" stroke="#888"/>')
        out.append(f'<text x="{x + 6:.1f}" y="{at:.1f}">{name}</text>')
    return "\n".join(out + ["</svg>", ""])


def main():
    path = os.path.join(DOCS, "convert.svg")
    picture = draw()
    if sys.argv[1:] == ["--check"]:
        same = os.path.exists(path) and open(path).read() == picture
        sys.exit(0 if same else "docs/convert.svg is not of the table: scripts/plot_perplexity.py")
    open(path, "w").write(picture)


main()
