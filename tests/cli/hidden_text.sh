# No character that a terminal obeys or does not show reaches standard output, standard error or JSON: control
# characters, bidirectional controls, invisible characters. They are in every name and text of a model here.
cat >make.py <<'P'
import json, os, shutil, struct, sys, unicodedata
MORE = [0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x3164, 0xFFA0, 0xFFF0, 0xFFF8]
MORE += list(range(0xFE00, 0xFE10)) + list(range(0xE0000, 0xE1000)) + [0x2065]
hidden = {c for c in range(0x110000) if unicodedata.category(chr(c)) in ("Cc", "Cf", "Zl", "Zp")} | set(MORE)
def is_hidden(text):
    return [c for c in text if ord(c) in hidden and c != "\n"]
def scan(path):
    command = "wb?"
    for line in open(path, "rb").read().split(b"\n"):
        command = line if line.startswith(b"===") else command
        try:
            found = is_hidden(line.decode())
        except UnicodeDecodeError as error:
            found = ["malformed"]
        if found and not line.startswith(b"==="):
            sys.exit("%s: %s in %s" % (command, found[:8], line[:200]))
def string(text):
    data = text.encode("utf-8", "surrogateescape")
    return struct.pack("<Q", len(data)) + data
def gguf(path, pairs, tensors):
    head = struct.pack("<4sIQQ", b"GGUF", 3, len(tensors), len(pairs))
    for key, value in pairs:
        head += string(key)
        if isinstance(value, list):
            head += struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(string, value))
        else:
            head += struct.pack("<I", 8) + string(value)
    for i, name in enumerate(tensors):
        head += string(name) + struct.pack("<IQIQ", 1, 32, 0, 128 * i)
    head += b"\0" * (-len(head) % 32)
    open(path, "wb").write(head + b"\0" * 128 * len(tensors))
def safetensors(path, tensors, metadata):
    head = {"__metadata__": metadata}
    for i, name in enumerate(tensors):
        head[name] = {"dtype": "F32", "shape": [2], "data_offsets": [8 * i, 8 * i + 8]}
    data = json.dumps(head).encode()
    open(path, "wb").write(struct.pack("<Q", len(data)) + data + b"\0" * 8 * len(tensors))
def chunks():
    every = "".join(map(chr, sorted(hidden - {0})))
    return [every[i:i + 24] for i in range(0, 0x240, 24)]
if sys.argv[1:2] == ["scan"]:
    for path in sys.argv[2:]:
        scan(path)
    sys.exit()
if sys.argv[1:2] == ["all"]: # every code point, in one value of metadata
    every = "".join(chr(c) for c in range(1, 0x110000) if not 0xD800 <= c < 0xE000)
    safetensors("all.safetensors", ["a"], {"k": every})
    sys.exit()
if sys.argv[1:2] == ["compare"]: # JSON gives back what the file has
    every = "".join(chr(c) for c in range(1, 0x110000) if not 0xD800 <= c < 0xE000)
    assert json.load(open("all.json", encoding="utf-8"))["metadata"]["k"] == every
    sys.exit()
bad = chunks()
text = "".join(bad)
gguf("a.gguf", [("general.architecture", "llama" + text), ("key" + text[:200], text), ("tokenizer.chat_template", text),
                ("general.name", text), ("tokenizer.ggml.tokens", bad + ["\udcff\udcfe"])],
     ["t" + part for part in bad])
gguf("b.gguf", [("general.architecture", "llama"), ("general.architecture", text)], ["t" + text[:60]] * 2)
safetensors("a.safetensors", ["t" + part for part in bad], {"k" + part: part for part in bad})
safetensors("b.safetensors", ["t" + part + "x" for part in bad], {"quant_type": text})
data = open("a.safetensors", "rb").read()
open("c.safetensors", "wb").write(data[:-3])
open("d" + text[:60].replace("/", "") + ".safetensors", "wb").write(data)
os.mkdir("m")
safetensors("m/model" + text[:30] + ".safetensors", ["t" + part for part in bad], {})
safetensors("m/model" + text[30:60] + ".safetensors", ["u" + part for part in bad], {})
shutil.copytree(os.environ["DATA"] + "/twins/llama", "n")
config = json.load(open("n/config.json"))
config.update({"architectures": [text], "torch_dtype": text, "k" + text: text, "rope_scaling": {"type": text, "factor": text}})
json.dump(config, open("n/config.json", "w"))
json.dump({"chat_template": text, "bos_token": text}, open("n/tokenizer_config.json", "w"))
tokens = json.load(open("n/tokenizer.json"))
tokens["model"]["vocab"] = {**tokens["model"]["vocab"], **{part: 1000 + i for i, part in enumerate(bad)}}
json.dump(tokens, open("n/tokenizer.json", "w"), ensure_ascii=False)
open("n/model.safetensors.index.json", "w").write(json.dumps({"weight_map": {text: text[:30]}}))
open("n/link" + text[:30], "w").write("x")
os.symlink("/" + text, "n/vocab.txt")
os.makedirs("s/manifests/h/n/m")
os.makedirs("s/blobs")
layer = {"mediaType": "application/vnd.ollama.image.tensor", "digest": "sha256:" + "0" * 64, "size": 1, "name": text}
open("s/manifests/h/n/m/t" + text[:20], "w").write(json.dumps({"layers": [layer]}))
open("s/manifests/h/n/m/latest", "w").write(json.dumps({"layers": [layer], "x": text}))
open("s/manifests/h/n/m/broken", "w").write(json.dumps({"layers": [{"digest": text}]}))
P
python3 make.py
export OLLAMA_MODELS=$PWD/s
run() {
    { echo; printf '=== %s' "$*" | tr '\n' ' '; echo; } >>shown # this line is not scanned
    wb "$@" >>shown 2>&1 || true
}
for path in ./*.gguf ./*.safetensors m n s/manifests/h/n/m/*; do
    for command in 'inspect' 'inspect --json' 'inspect --metadata' 'inspect --config --layers' 'verify' 'verify --json' \
        'doctor' 'doctor --json' 'hash' 'hash --json' 'load' 'export'; do
        run $command "$path"
    done
    run inspect --json --tokens --template --config "$path"
    run inspect --tokens "$path"
    run diff "$path" a.gguf
    run diff --json "$path" a.safetensors
    run convert "$path" x.gguf --dry-run
    run convert "$path" x --to mlx --dry-run --json
    run convert "$path" out.safetensors --json --force
    run edit "$path" --delete "$(printf 'k\342\200\256\302\233')"
    run edit "$path" --rename "$(printf 'a\342\200\256=b')"
done
run list --store s
run list --store s --json
weird=$(printf 'no\302\233\342\200\256\033[31m\303\050')
for command in inspect verify doctor hash "diff a.gguf" "convert a.gguf" "get a.gguf" "export a.gguf" edit "$weird" "help" \
    "inspect --names" "convert --to" "convert --quant" "get --dtype"; do
    run $command "$weird"
    run $command --json "$weird"
done
python3 make.py all
wb inspect --json all.safetensors >all.json
python3 make.py compare
cat all.json >>shown
run inspect --metadata all.safetensors
python3 make.py scan shown
