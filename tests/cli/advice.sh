# The advice of the command names its options, not functions, structs or flags of C.
python3 -B - "$SOURCE" <<'P'
import pathlib, re, sys
source = pathlib.Path(sys.argv[1])
of_c = r"\bwb_[a-z_]+|\bWB_[A-Z_]+|\bin C\b"
library = dict(re.findall(r'^WB__FINDING\(\w+, "([^"]*)", "(.*)"\)$', (source / "src/core/findings.def").read_text(), re.M))
assert len(library) > 100
text = re.sub(r'"\s*\n\s*"', "", (source / "cli/advice.c").read_text())
command = dict(re.findall(r'\{"([^"]*)",\s*"([^"]*)"\}', text))
assert len(command) > 10 and set(command) <= set(library), set(command) - set(library)
missing = [code for code, advice in library.items() if re.search(of_c, advice) and code not in command]
assert not missing, missing
assert not [a for a in command.values() if re.search(of_c, a)]
# Every option that the advice names exists.
options = set(re.findall(r'^OPTION\(\w+, "([a-z-]+)"', (source / "cli/options.def").read_text(), re.M))
named = {o for a in list(command.values()) + list(library.values()) for o in re.findall(r"--([a-z-]+)", a)}
assert named - options <= {"local-dir", "plain-http"}, named - options
P
python3 -B "$SOURCE/tests/cli/zoo.py"
cp "$DATA/twins/llama.gguf" m.gguf
refused() { # a pattern of the advice, and a command
    want=$1
    shift
    code=0
    wb "$@" >out 2>&1 || code=$?
    [ $code -ge 2 ] && grep -q -e "$want" out || { echo "wb $*: $code"; cat out; exit 1; }
    for pattern in 'wb_[a-z]' 'WB_'; do
        if grep "$pattern" out; then exit 1; fi
    done
}
# --max-header limits GGUF headers, too.
for command in inspect verify doctor hash 'verify --json' 'inspect --json'; do
    refused 'raise the limit with --max-header' $command --max-header 1K m.gguf
    refused 'raise the limit with --max-header' $command --max-header 64 one.safetensors
done
wb inspect --max-header 1M m.gguf >/dev/null
refused 'replace this one with --force' convert m.gguf one.safetensors
# A model of too many tensors for a store is refused by the plan.
python3 -B - <<'P'
import json, struct
header = json.dumps({f"t{i}": {"dtype": "F32", "shape": [0, 4], "data_offsets": [0, 0]} for i in range(100000)}).encode()
open("many.safetensors", "wb").write(struct.pack("<Q", len(header)) + header)
P
for more in --dry-run ''; do
    refused 'A GGUF file can hold any number of tensors' convert many.safetensors m --to ollama --store store $more
    [ -z "$(find . -path './store/*' -type f)" ]
done
