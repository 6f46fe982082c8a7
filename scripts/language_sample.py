#!/usr/bin/env python3
"""Draws texts of the project at random, for a reader to mark as clear, second reading or opaque.

Usage: language_sample.py [SEED]

Prints 60 comments of C files, 30 messages (the literals of *_messages.h, of calls that report errors and of
findings.def) and 20 paragraphs of the documentation, each with its place. The text to mark has ">" before every
line. The lines of code next to a comment, and the name of a message, are printed too, because a reader of the
code sees them. The same seed and the same tree give the same sample. docs/dev/language.md has the marks.
"""

import random
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOKEN = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
LITERALS = re.compile(r'"(?:\\.|[^"\\\n])*"(?:(?:\s|\\\n)*"(?:\\.|[^"\\\n])*")*')
BEFORE, AFTER = 2, 4  # lines of code printed next to a comment
REPORTS = re.compile(r"\b(?:wb__fail\w*|wb__note\w*|wb__plan_note|fail\w*|complain\w*|warn\w*)\s*\(")


def files(suffixes):
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in listed.splitlines():
        if name.endswith(suffixes) and not name.startswith(("tests/data/", "fuzz/seeds/", "demo/")):
            if (ROOT / name).is_file():
                yield name, (ROOT / name).read_text(encoding="utf-8")


def line_of(text, at):
    return text.count("\n", 0, at) + 1


def plain(text):
    return re.sub(r"\s+", " ", text).strip()


def comments():
    for name, text in files((".c", ".h", ".def")):
        for match in TOKEN.finditer(text):
            body = re.sub(r"^\s*\*(?!/) ?", "", match[0][2:-2], flags=re.M) if match[0].startswith("/*") else ""
            words = plain(body).strip("- ")
            # Dividers and single words have nothing to misunderstand.
            if len(words.split()) >= 4:
                first = line_of(text, match.start())
                last = line_of(text, match.end())
                yield f"{name}:{first}", first, last, max(first - BEFORE, 1), last + AFTER, words


def literal(text):
    return "".join(part[1:-1] for part in TOKEN.findall(text) if part.startswith('"'))


def messages():
    for name, text in files((".c", ".h", ".def")):
        if not name.startswith(("src/", "cli/")):
            continue
        if name.endswith("messages.h"):
            starts = [m.end() for m in re.finditer(r"#define \w+", text)]
        elif name.endswith("findings.def"):
            starts = [m.end() for m in re.finditer(r'^WB__FINDING\(\w+, "[^"]*",', text, re.M)]
        else:
            starts = [m.end() for m in REPORTS.finditer(text)]
        for start in starts:
            end = text.find(";" if name.endswith(".c") else "\n\n", start)
            match = LITERALS.search(text, start, len(text) if end < 0 else end)
            if match and len(literal(match[0]).split()) >= 4:
                first = line_of(text, start)
                last = line_of(text, match.end())
                yield f"{name}:{line_of(text, match.start())}", first, last, first, last, literal(match[0])


def paragraphs():
    for name, text in files((".md",)):
        if not (name.startswith("docs/") or "/" not in name):
            continue
        text = re.sub(r"```.*?```", "", text, flags=re.S)
        at = 0
        for block in re.split(r"\n\s*\n", text):
            if len(plain(block).split()) >= 12 and not block.startswith(("    ", "#", "<")):
                yield f"{name}:{line_of(text, max(text.find(block, at), 0))}", 0, 0, 0, 0, block.strip("\n")
            at += len(block)


def show(title, place, first, last, start, end, words):
    """Prints a text: lines `start` to `end` of its file, of which `first` to `last` are the text, or the words."""
    print(f"{title} | {place}")
    lines = words.split("\n")
    if first:
        lines = (ROOT / place.split(":")[0]).read_text(encoding="utf-8").split("\n")[start - 1 : end]
    for at, line in enumerate(lines, start):
        print((">" if not first or first <= at <= last else " "), line)
    print()


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    draw = random.Random(seed)
    for title, source, count in (("comment", comments, 60), ("message", messages, 30), ("paragraph", paragraphs, 20)):
        found = sorted(set(source()))
        for number, text in enumerate(draw.sample(found, min(count, len(found))), 1):
            show(f"{title} {number}", *text)


main()
