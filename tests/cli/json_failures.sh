# With --json a failure is also reported as a JSON object, with the same message as on standard error.
cp -r "$DATA/models/qwen3-bf16" m
wb convert m g.gguf >/dev/null
cat >check.py <<'P'
import json, subprocess, sys
def fails(code, path, command, says, advice=False):
    p = subprocess.run(["wb", *command.split(), "--json"], capture_output=True, text=True)
    assert p.returncode == code, (command, p)
    lines = p.stdout.splitlines()
    assert len(lines) == 1, (command, p.stdout)
    answer = json.loads(lines[0])
    error = answer["error"]
    assert answer["path"] == path and error["severity"] == "fatal", answer
    assert says in error["message"] and says in p.stderr and error["code"], (command, answer)
    assert not advice or error["advice"] in p.stderr, answer
    assert "\n" not in error["message"], answer
missing = "No such file or directory"
for verb in "inspect", "verify", "doctor", "hash", "load", "edit":
    fails(5, "nowhere", verb + " nowhere", missing)
fails(5, "nowhere", "list --store nowhere", missing)
fails(5, "nowhere", "realign nowhere --alignment 64", missing)
fails(5, "nowhere", "export nowhere t -o x", missing)
fails(5, "nowhere", "get nowhere t -o x", missing)
fails(5, "nowhere", "convert nowhere x.gguf", missing)
fails(5, "nowhere", "diff nowhere g.gguf", missing)
fails(5, "nowhere", "codec encode --type Q8_0 --cols 32 nowhere x", missing)
fails(5, "no*where", "verify no*where", "no file matches")
fails(4, None, "export g.gguf nothing -o x", "no tensor has the name", advice=True)
fails(4, "g.gguf", "get g.gguf nothing -o x", "no tensor with this native or canonical name")
fails(4, "g.gguf", "convert g.gguf g.gguf", "the output is an input file: choose another output path")
fails(4, "m", "convert m x.gguf --quant Q9_9", "unknown quantization")
fails(4, "g.gguf", "realign g.gguf --alignment 3", "must be a power of two")
fails(4, None, "convert m", "Missing argument")
fails(4, None, "frobnicate", "there is no command")
P
python3 check.py
[ ! -e x ] && [ ! -e x.gguf ] || exit 1
# Each of several paths has a line, and so has a pattern that matches nothing. Invalid command lines with --json at
# any place, and invalid manifests, are also reported as JSON.
lines() { # expected code, number of lines, arguments
    want=$1 n=$2 code=0
    shift 2
    wb "$@" >answers 2>/dev/null || code=$?
    [ $code = "$want" ] && [ "$(wc -l <answers)" = "$n" ] || { echo "$*: $code"; cat answers; exit 1; }
    while read -r line; do echo "$line" | python3 -m json.tool >/dev/null; done <answers
}
lines 5 3 hash --json m 'no*where' g.gguf
lines 4 1 verify --bogus m --json
lines 4 1 inspect m --json --bogus
lines 0 1 hash m --manifest manifest.json --json
[ -s manifest.json ]
lines 4 1 hash m --manifest - --json
