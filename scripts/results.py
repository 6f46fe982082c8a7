#!/usr/bin/env python3
"""Records which expensive tests passed with which inputs, so that they run again only when an input changed.

    results.py list                    all parts, and whether their result is current
    results.py check PART              exit code 0 if the part passed with the present inputs, else 1
    results.py record PART             records that the part passed with the present inputs
    results.py stale PART [NAME...]    those of the names (default: all of the part) whose result is not current
    results.py current PART [NAME...]  those of the names whose result is current
    results.py record PART NAME...     records these names of a part

tests/results/PART has one line "HASH NAME" for each name. A part without names has the name "all". Names are
source files (analysers), tests (presets) or fuzz targets. A hash covers the path and the content of every
input. Comments are not hashed, so that rewording one makes nothing stale: C sources are hashed without comments and
without white space that has no meaning, shell scripts and CMake files without lines that are comments. A comment that
a tool reads ("wraps:" of a unit test, NOLINT) is hashed. A script with a here-document is hashed whole, because a
line of the document may look like a comment.
docs/dev/ci.md describes how parts are used.
"""

import fnmatch
import functools
import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(os.environ.get("RESULTS_ROOT", Path(__file__).resolve().parent.parent))
RECORDS = ROOT / "tests" / "results"

LIBRARY = ["src/*", "include/*"]
BUILD = ["CMakeLists.txt", "CMakePresets.json", "cmake/*", "*/CMakeLists.txt", "scripts/preset.sh"]
# Files that the tests of a preset read, apart from the library. Only checks read the documentation.
TESTS = ["cli/*", "examples/*", "tests/*", "fuzz/*", "demo/*", "bench/*"]
# Part: inputs of all its names; names "files" (of the inputs that end in .c), "unit" (unit tests, "exhaust.TARGET"
# for the mutations of a fuzz target, and "all" for every other test), "fuzz" (fuzz targets) or none.
PARTS = {
    "analyzer": (["tests/deep/analyzer.sh"], "files"),
    "lint": (["tests/deep/lint.sh", "scripts/lint.sh", ".clang-tidy", "src/quant/.clang-tidy"], "files"),
    "plain_cc": (LIBRARY + ["cli/*", "tests/deep/plain_cc.sh", "tests/check/plain_cc.sh"], None),
    "quant_bits": (
        ["src/core/*", "src/cpu/*", "src/dtype/*", "src/quant/*", "include/*", "tests/deep/quant_bits.sh"]
        + ["tests/check/quant_bits.sh", "tests/tools/*", "tests/data/golden/*"],
        None,
    ),
    "preset.clang": (BUILD, "unit"),
    "preset.msan": (BUILD, "unit"),
    "preset.m32": (BUILD, "unit"),
    "preset.arm64": (BUILD, "unit"),
    "fuzz_service": (
        ["fuzz/service/*", "tests/deep/fuzz_service.sh", "fuzz/CMakeLists.txt", "CMakeLists.txt", "fuzz/*.dict"],
        None,
    ),
    "fuzz": (["scripts/fuzz.sh", "CMakeLists.txt", "CMakePresets.json", "fuzz/CMakeLists.txt"], "fuzz"),
}

# Files without a result of a part: tests/deep/analyzer.sh leaves them out.
OMITTED = {"analyzer": ("cli/*", "*/x86/*", "*/arm/*")}

# In a shell script or a CMake file: a string, an escaped character, a comment line (group 1), or another comment.
WORD = re.compile(rb"""'[^']*'|"(?:\\.|[^"\\])*"|\\.|(^[ \t]*#(?:[ \t][^\n]*)?\n)|(?<=[ \t;])#[^\n]*""", re.M | re.S)
EXHAUST = "exhaust."
# In C: a literal, which is kept, or a comment, white space, or a space that separates no tokens. A space before "("
# is kept, because "#define F (x)" differs from "#define F(x)".
READ_BY_TOOLS = re.compile(rb"\bwraps:|\bNOLINT|fall ?through|clang-format o", re.I)
LITERAL = rb"""("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')"""
COMMENT = re.compile(LITERAL + rb"|/\*.*?\*/", re.S)
SPACES = re.compile(LITERAL + rb"|(?:\s|\\\n)+")
INSIDE = re.compile(LITERAL + rb"|(?<=[()\[*,;{}]) | (?=[)\[\]*,;{}])")


@functools.cache
def tree():
    """The paths of all files: those that git knows and does not ignore, or all."""
    git = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True)
    if git.returncode == 0 and git.stdout:
        names = git.stdout.splitlines()
    else:
        names = [str(path.relative_to(ROOT)) for path in ROOT.rglob("*")]
    return sorted(
        name for name in names if (ROOT / name).is_file() and not name.startswith(("build/", "tests/results/"))
    )


@functools.cache
def digest(name):
    data = (ROOT / name).read_bytes()
    if name.endswith((".c", ".h", ".def")) and not name.startswith(("tests/data/", "fuzz/seeds/")):
        data = COMMENT.sub(lambda m: m[0] if m[1] or READ_BY_TOOLS.search(m[0]) else b" ", data)
        for pattern, by in ((SPACES, b" "), (INSIDE, b"")):
            data = pattern.sub(lambda m, by=by: m[1] or by, data)
    elif name.endswith(("CMakeLists.txt", ".sh")) and b"<<" not in data:
        data = WORD.sub(lambda m: b"" if m[1] else m[0], data)
    return hashlib.sha256(data).digest()


@functools.cache
def expand(patterns):
    return [name for name in tree() if any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)]


def hash_of(part, names):
    total = hashlib.sha256(repr((part, PARTS[part])).encode())
    for name in sorted(set(names)):
        total.update(name.encode() + b"\0" + digest(name))
    return total.hexdigest()[:32]


@functools.cache
def includes(name):
    """The files of the repository that a C file includes, directly or not."""
    found, queue = set(), [name]
    while queue:
        here = queue.pop()
        text = (ROOT / here).read_text(encoding="utf-8", errors="replace")
        for header in re.findall(r'^\s*#\s*include\s*"([^"]+)"', text, re.M):
            for base in (os.path.dirname(here), "src", "include", "tests/unit", "fuzz/support"):
                path = os.path.normpath(os.path.join(base, header))
                if path in set_of_tree() and path not in found:
                    found.add(path)
                    queue.append(path)
                    implementation = path[:-2] + ".c"
                    if path.startswith("fuzz/") and implementation in set_of_tree():
                        found.add(implementation)
                        queue.append(implementation)
    return sorted(found)


@functools.cache
def set_of_tree():
    return frozenset(tree())


@functools.cache
def law():
    rows = {}
    for line in (ROOT / "scripts/law.txt").read_text().splitlines():
        words = line.split()
        if words and not line.startswith("#") and "include" not in words:
            rows[words[0]] = words[1:]
    return rows


@functools.cache
def owners():
    """The module that defines each public function."""
    found = {}
    for name in tree():
        if name.startswith("src/") and name.endswith(".c"):
            text = (ROOT / name).read_text(encoding="utf-8")
            for function in re.findall(r"^[a-z][\w *]*?\b(wb_[a-z0-9]\w*)\(", text, re.M):
                found[function] = name.split("/")[1]
    return found


def modules_of(test):
    """The modules of src/ that a test can reach: those whose headers it includes, those that own the public
    functions it names, and all that these may use by the dependency law. None: every module."""
    files = [test] + [name for name in includes(test) if name.startswith(("tests/", "fuzz/"))]
    reached = {name.split("/")[1] for name in includes(test) if name.startswith("src/")}
    for name in files:
        text = (ROOT / name).read_text(encoding="utf-8")
        for function in set(re.findall(r"\bwb_[a-z0-9]\w*(?=\s*\()", text)):
            if function not in owners():
                return None
            reached.add(owners()[function])
    queue = list(reached)
    while queue:
        for below in law().get(queue.pop(), []):
            if below not in reached:
                reached.add(below)
                queue.append(below)
    return reached


def fuzz_inputs(name):
    target = f"fuzz/{name}.c"
    modules = modules_of(target)
    sources = LIBRARY if modules is None else [f"src/{module}/*" for module in sorted(modules)] + ["include/*"]
    others = ["fuzz/support/*", "fuzz/disk/*", f"fuzz/seeds/{name}/*"] + (["cli/*"] if name == "arguments" else [])
    return expand(tuple(sources + others)) + [target] + includes(target)


def inputs(part, name):
    common = expand(tuple(PARTS[part][0]))
    if PARTS[part][1] == "files":
        return common + [name] + includes(name)
    if PARTS[part][1] == "fuzz" or name.startswith(EXHAUST):
        return common + fuzz_inputs(name.removeprefix(EXHAUST))
    if PARTS[part][1] == "unit":
        modules = None if name == "all" else modules_of(f"tests/unit/{name}.c")
        if modules is None:
            return common + expand(tuple(LIBRARY + TESTS))
        test = f"tests/unit/{name}.c"
        sources = expand(tuple(f"src/{module}/*" for module in sorted(modules)))
        return common + sources + expand(("include/*", "tests/data/*", "tests/fake/*")) + [test] + includes(test)
    return common


def names_of(part):
    kind = PARTS[part][1]
    if kind == "files":
        omitted = set(expand(OMITTED.get(part, ())))
        return [name for name in expand(("src/*.c", "cli/*.c")) if name not in omitted]
    targets = [Path(name).stem for name in tree() if re.fullmatch(r"fuzz/\w+\.c", name)]
    if kind == "unit":
        tests = [Path(name).stem for name in tree() if fnmatch.fnmatchcase(name, "tests/unit/*.c")]
        return ["all"] + tests + [EXHAUST + name for name in targets]
    return targets if kind == "fuzz" else ["all"]


def read(part):
    try:
        lines = (RECORDS / part).read_text().splitlines()
    except OSError:
        return {}
    return {words[1]: words[0] for words in (line.split() for line in lines) if len(words) == 2}


def stale(part, names):
    recorded = read(part)
    return [name for name in names if recorded.get(name) != hash_of(part, inputs(part, name))]


def record(part, names):
    recorded = read(part)
    known = set(names_of(part))
    recorded.update({name: hash_of(part, inputs(part, name)) for name in names})
    RECORDS.mkdir(parents=True, exist_ok=True)
    lines = [f"{value} {name}\n" for name, value in sorted(recorded.items()) if name in known]
    (RECORDS / part).write_text("".join(lines))


def main(arguments):
    command, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    if command == "list" and not rest:
        for part in PARTS:
            names = names_of(part)
            print(f"{part}: {len(names) - len(stale(part, names))} of {len(names)} results are current")
        return 0
    if command not in ("check", "current", "record", "stale") or not rest or rest[0] not in PARTS:
        print(__doc__.strip(), file=sys.stderr)
        return 4
    part, names = rest[0], rest[1:] or names_of(rest[0])
    if command == "record":
        record(part, names)
    elif command in ("current", "stale"):
        old = stale(part, names)
        shown = old if command == "stale" else [name for name in names if name not in old]
        print("".join(name + "\n" for name in shown), end="")
    else:
        left = stale(part, names)
        if not left:
            print(f"{part}: passed before with the same inputs (tests/results/{part})")
        return 1 if left else 0
    return 0


sys.exit(main(sys.argv[1:]))
