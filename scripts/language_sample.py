#!/usr/bin/env python3
"""Draws texts of the project at random, for a reader to mark as clear, second reading or opaque.

Usage: language_sample.py [SEED]

Prints 60 comments of C files, 30 messages (the literals of *_messages.h, of calls that report errors and of
findings.def) and 20 paragraphs of the documentation, each with its place. The text to mark has ">" before every
line. The lines without ">" are what a reader sees next to the text: the code next to a comment, the first use of a
message, the headings above a paragraph and the paragraph before it. The same seed and the same tree give the same
sample. docs/dev/language.md has the marks.
"""

import random
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOKEN = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
LITERALS = re.compile(r'"(?:\\.|[^"\\\n])*"(?:(?:\s|\\\n)*"(?:\\.|[^"\\\n])*")*')
BEFORE, AFTER = 2, 6  # lines of code printed next to a comment or the use of a message
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


def excerpt(text, first, last, before=0, after=0):
    """Returns lines `first` to `last` of a file, marked, with the lines next to them."""
    lines = text.split("\n")
    start, end = max(first - before, 1), min(last + after, len(lines))
    return [(first <= n <= last, lines[n - 1]) for n in range(start, end + 1)]


def comments():
    for name, text in files((".c", ".h", ".def")):
        for match in TOKEN.finditer(text):
            body = re.sub(r"^\s*\*(?!/) ?", "", match[0][2:-2], flags=re.M) if match[0].startswith("/*") else ""
            # Dividers and single words have nothing to misunderstand.
            if len(plain(body).strip("- ").split()) >= 4:
                first, last = line_of(text, match.start()), line_of(text, match.end())
                yield f"{name}:{first}", excerpt(text, first, last, BEFORE, AFTER)


def literal(text):
    return "".join(part[1:-1] for part in TOKEN.findall(text) if part.startswith('"'))


def first_use(macro, sources):
    """Returns the code around the first use of a message outside the headers of messages."""
    for name, text in sources:
        if not name.endswith("messages.h") and (at := re.search(rf"\b{macro}\b", text)):
            line = line_of(text, at.start())
            return [(False, f"used in {name}:")] + [(False, l) for _, l in excerpt(text, line, line, BEFORE, 2)]
    return []


def messages():
    sources = [file for file in files((".c", ".h", ".def")) if file[0].startswith(("src/", "cli/"))]
    for name, text in sources:
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
                lines = excerpt(text, line_of(text, start), line_of(text, match.end()))
                macro = re.match(r"#define (\w+)", lines[0][1])
                yield f"{name}:{line_of(text, match.start())}", lines, macro and macro[1], sources


def paragraphs():
    for name, text in files((".md",)):
        # language.md has the marks of earlier readers, which must not influence the next one.
        if name == "docs/dev/language.md" or not (name.startswith("docs/") or "/" not in name):
            continue
        text = re.sub(r"```.*?```", "", text, flags=re.S)
        at, headings, before = 0, [], ""
        for block in re.split(r"\n\s*\n", text):
            if heading := re.match(r"(#+) (.*)", block):
                headings = headings[: len(heading[1]) - 1] + [block.split("\n")[0]]
                before = ""
                block = block.partition("\n")[2].strip("\n") or block
            if len(plain(block).split()) >= 12 and not block.startswith(("    ", "#", "<")):
                above = headings + before.split("\n") + [""]
                lines = [(False, line) for line in above] + [(True, line) for line in block.strip("\n").split("\n")]
                yield f"{name}:{line_of(text, max(text.find(block, at), 0))}", lines
            before = "" if block.startswith("#") else block.strip("\n")
            at += len(block)


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    draw = random.Random(seed)
    for title, source, count in (("comment", comments, 60), ("message", messages, 30), ("paragraph", paragraphs, 20)):
        found = {place: (lines, rest) for place, lines, *rest in source()}
        for number, place in enumerate(draw.sample(sorted(found), min(count, len(found))), 1):
            lines, rest = found[place]
            print(f"{title} {number} | {place}")
            for marked, line in lines + (first_use(*rest) if rest and rest[0] else []):
                print(">" if marked else " ", line)
            print()


main()
