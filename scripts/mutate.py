#!/usr/bin/env python3
"""Measures how many faults in the reader modules the tests detect (mutation testing).

    scripts/mutate.py [--seed N] [--sample N] [--only FILE:LINE] MODULE...

A mutant is the source with one operator, constant or statement changed. For each mutant of the sample, the
script compiles the changed file, links the unit tests and the replays of the fuzzing seeds that concern the
module, and runs them until one fails or takes too long. The mutant is then killed. A mutant that survives is
equivalent if the optimised object code is the same as without the change; equivalent mutants are not counted.
The script prints the score of each module, and writes the survivors to build/mutate/MODULE.survivors.

Functions in headers are not mutated. The script builds in build/mutate, and runs one process at a time.
"""
import argparse
import hashlib
import json
import os
import pathlib
import random
import re
import resource
import shlex
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "mutate"

# Tests that read many formats, and the tests of each module, as regular expressions of their names
GENERAL = (r"unit_(api|catalog|changing_files|config_golden|corpus|edges|faults|faults_readers|folders|hostile|"
           r"hostile_store|listings|metadata|models|mutations|names|past_holes|past_holes_gguf|read_packed|slices|"
           r"sources|twins)")
TESTS = {
    "core": r"unit_(abi|checked|context|crc32|cursor|decimal|edit|formats_write|memory|text|threads|writer|json.*|"
            r"gguf_.*|npy.*|zip|safetensors_.*)|"
            r"fuzz_(edit|json|gguf|npy|npz|safetensors|safetensors_fast|folder|slice|writer)",
    "json": r"unit_(json|json_.*|decimal|model_config|tokenizer|tokenizer_files|tokenizer_plain|manifest|"
            r"safetensors_.*|hostile_packed)|fuzz_(json|config|tokenizer_json|safetensors|safetensors_fast|"
            r"manifest_digests)",
    "formats": r"unit_(formats_write|gguf_.*|npy|npy_.*|zip|inflate|safetensors_.*|writer|writer_.*|edit|"
               r"convert_gguf)|fuzz_(gguf|gguf_strings|npy|npz|safetensors|safetensors_fast|writer|edit|slice)",
    "bundles": r"unit_(bundles|beneath|gguf_split|manifest|provided_files|edit|writer|writer_partial)|"
               r"fuzz_(folder|manifest|writer)",
}
# A test that takes more processor time has failed. Without a fault, it takes at most 3 seconds.
SECONDS = 20

SWAPS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&", "+": "-",
         "-": "+", "*": "/", "/": "*", "%": "/", "&": "|", "|": "&", "<<": ">>", ">>": "<<", "+=": "-=",
         "-=": "+=", "++": "--", "--": "++", "true": "false", "false": "true"}
BINARY = r"(?<= )(?:<=|>=|==|!=|<<|>>|&&|\|\||\+=|-=|[<>+*/%&|-])(?= )"
WORD = r"\+\+|--|\b(?:true|false)\b"
NUMBER = r"(?<![\w.])(?:0[xX][0-9a-fA-F]+|\d+)(?:[uU]?[lL]{0,2})\b(?![.\w])"
NEGATION = r"!(?!=)"
STATEMENT = r"(?m)^ +(?:\(void\))?[a-z]\w*(?:\([^;{}]*\)|(?:(?:->|\.)\w+|\[[^;\]]*\])* (?:[-+|&]?=) [^;{}]*);$"


def mask(text):
    """Replaces comments, strings, characters and preprocessor lines by spaces, so that offsets stay valid."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group())
    return re.sub(r"(?s)/\*.*?\*/|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|^[ \t]*#(?:\\\n|[^\n])*", blank, text,
                  flags=re.M)


def mutants_of(path):
    """Returns the mutants of a file: (file, offset, length, replacement)."""
    text = path.read_text()
    code = mask(text)
    found = []
    for pattern in (BINARY, WORD):
        found += [(m.start(), m.end(), SWAPS[m.group()]) for m in re.finditer(pattern, code)]
    for m in re.finditer(NUMBER, code):
        digits = re.match(r"0[xX][0-9a-fA-F]+|\d+", m.group()).group()
        found.append((m.start(), m.start() + len(digits), str(int(digits, 0) + 1)))
    found += [(m.start(), m.end(), " ") for m in re.finditer(NEGATION, code)]
    for m in re.finditer(r"\b(?:if|while) \(", code):
        depth, end = 1, m.end()
        while depth > 0:
            depth += {"(": 1, ")": -1}.get(code[end], 0)
            end += 1
        found.append((m.end(), end - 1, "!(" + text[m.end():end - 1] + ")"))
    for m in re.finditer(STATEMENT, code):
        found.append((m.start(), m.end(), ";"))
    return [(path, *f) for f in sorted(set(found))]


def limit():
    """Limits what a mutant can do to the machine."""
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30, 1 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(command, folder):
    """Runs a command in its own process group. Returns True if it ends with exit code 0, or 77 (skipped)."""
    process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, preexec_fn=limit, start_new_session=True)
    try:
        return process.wait(30 * SECONDS) in (0, 77)
    except subprocess.TimeoutExpired:
        return False
    finally:
        try:
            os.killpg(process.pid, 9)
        except ProcessLookupError:
            pass
        process.wait()


class Test:
    """An executable of the build. It is linked again for each mutant."""

    def __init__(self, name):
        self.name = name
        self.folder = BUILD / ("fuzz" if name.startswith("fuzz") else "tests")
        line = (self.folder / "CMakeFiles" / f"{name}.dir" / "link.txt").read_text()
        self.link = shlex.split(line)
        self.command = [str(self.folder / name)]
        if name.startswith("fuzz"):
            self.command.append(str(ROOT / "fuzz" / "seeds" / name[len("fuzz_"):]))
        self.seconds = 0.0

    def passes(self):
        if not run(self.link, self.folder):
            return False
        begin = time.monotonic()
        passed = run(self.command, self.folder)
        self.seconds = time.monotonic() - begin
        return passed


def build(names):
    """Builds the library and the tests, without debug information and with a fast linker."""
    flags = ["-DCMAKE_BUILD_TYPE=None", "-DCMAKE_C_FLAGS=-O1 -w", "-DWEIGHBRIDGE_TESTS=ON",
             "-DWEIGHBRIDGE_WERROR=OFF", "-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=gold",
             "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", "-DCMAKE_C_COMPILER=gcc"]
    subprocess.run(["cmake", "-S", ROOT, "-B", BUILD, *flags], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", BUILD, "--target", *names], check=True, stdout=subprocess.DEVNULL)


def test_names(module):
    names = ["unit_" + p.stem for p in (ROOT / "tests" / "unit").glob("*.c")]
    names += ["fuzz_" + p.name for p in (ROOT / "fuzz" / "seeds").iterdir()]
    wanted = re.compile(f"(?:{GENERAL}|{TESTS[module]})")
    return sorted(name for name in names if wanted.fullmatch(name))


class Compiler:
    def __init__(self):
        self.commands = {}
        for entry in json.loads((BUILD / "compile_commands.json").read_text()):
            if "objects.dir" in entry["command"]:
                self.commands[entry["file"]] = shlex.split(entry["command"])
        self.library = BUILD / "libweighbridge.a"

    def compile(self, path, source, out, more=()):
        """Compiles `source`, a changed copy of `path`, to the object file `out`."""
        command = self.commands[str(path)]
        at = command.index("-o")
        command = command[:at] + ["-o", str(out)] + command[at + 2:]
        command = [str(source) if c == str(path) else c for c in command]
        return run([*command, *more], BUILD)

    def digest(self, path, source):
        """Returns a digest of the optimised machine code and data."""
        out = BUILD / "digest.s"
        if not self.compile(path, source, out, ["-O2", "-S", "-g0", "-fno-asynchronous-unwind-tables"]):
            return None
        lines = [line for line in out.read_text().splitlines() if not line.startswith("\t.file")]
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()

    def replace(self, path, made):
        """Replaces the object file of `path` in the static library. Object files have unique names."""
        member = BUILD / "mutant" / (path.name + ".o")
        member.parent.mkdir(exist_ok=True)
        member.write_bytes(made.read_bytes())
        return run(["ar", "rS", str(self.library), str(member)], BUILD) and run(["ranlib", str(self.library)], BUILD)


def describe(mutant):
    path, begin, end, new = mutant
    text = path.read_text()
    line = text.count("\n", 0, begin) + 1
    old = " ".join(text[begin:end].split())
    return f"{path.relative_to(ROOT)}:{line}: {old} -> {' '.join(new.split())}"


def judge(mutant, compiler, tests):
    """Returns "invalid", "killed", "equivalent" or "survived". Moves a test that kills to the front."""
    path, begin, end, new = mutant
    text = path.read_text()
    source, made = BUILD / path.name, BUILD / "mutant.o"
    source.write_text(text[:begin] + new + text[end:])
    try:
        if not compiler.compile(path, source, made):
            return "invalid"
        compiler.replace(path, made)
        for i, test in enumerate(tests):
            if not test.passes():
                tests.insert(0, tests.pop(i))
                return "killed"
        changed = compiler.digest(path, source)
        source.write_text(text)
        return "equivalent" if changed == compiler.digest(path, source) else "survived"
    finally:
        source.unlink(missing_ok=True)


def measure(module, arguments):
    tests = [Test(name) for name in test_names(module)]
    compiler = Compiler()
    files = sorted((ROOT / "src" / module).rglob("*.c"))
    files = [f for f in files if str(f) in compiler.commands]
    everything = [m for f in files for m in mutants_of(f)]
    if arguments.only:
        sample = [m for m in everything if arguments.only in describe(m)]
    else:
        sample = random.Random(arguments.seed).sample(everything, min(arguments.sample, len(everything)))
        sample.sort(key=lambda m: (str(m[0]), m[1]))
    for test in [test for test in tests if not test.passes()]:
        print(f"{test.name} fails without a mutant, so it is not used", flush=True)
        tests.remove(test)
    tests.sort(key=lambda t: t.seconds)
    counts = dict.fromkeys(("killed", "survived", "equivalent", "invalid"), 0)
    survivors = []
    former = None
    for mutant in sample:
        if former not in (None, mutant[0]):
            compiler.compile(former, former, BUILD / "mutant.o")
            compiler.replace(former, BUILD / "mutant.o")
        former = mutant[0]
        verdict = judge(mutant, compiler, tests)
        counts[verdict] += 1
        if verdict == "survived":
            survivors.append(describe(mutant))
            print("survived:", survivors[-1], flush=True)
    if former is not None:
        compiler.compile(former, former, BUILD / "mutant.o")
        compiler.replace(former, BUILD / "mutant.o")
    (BUILD / f"{module}.survivors").write_text("".join(s + "\n" for s in survivors))
    real = counts["killed"] + counts["survived"]
    print(f"{module}: {counts['killed']} of {real} mutants killed ({100 * counts['killed'] / max(real, 1):.1f} %); "
          f"{counts['equivalent']} equivalent, {counts['invalid']} do not compile; sample of {len(everything)}, "
          f"seed {arguments.seed}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="*", metavar="MODULE", default=list(TESTS))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sample", type=int, default=100, help="number of mutants of each module")
    parser.add_argument("--only", help="only mutants whose description contains this text, such as json/pull.c:72:")
    arguments = parser.parse_args()
    os.environ.pop("MAKEFLAGS", None)
    build(sorted({name for module in arguments.modules for name in test_names(module)}))
    for module in arguments.modules:
        measure(module, arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
