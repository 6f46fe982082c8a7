# Every JSON answer matches cli/wb.schema.json, which the package jsonschema checks, and every member that the
# schema describes occurs in an answer. The jq commands of docs/json.md print what the page says.
python=python3
$python -c 'import jsonschema' 2>/dev/null || python=/usr/bin/python3 # the package of the distribution
python3 -B "$SOURCE/tests/cli/zoo.py"
. "$SOURCE/tests/net/servers.sh"
mkdir -p hub/o/m
echo '{}' >hub/o/m/config.json
start_hub hub
NETWORK=$(has_network && echo 1 || true)
export NETWORK
$python -W ignore -B - "$SOURCE/cli/wb.schema.json" "$DATA" <<'P'
import copy, json, os, pathlib, struct, subprocess, sys, zipfile
import jsonschema

schema = json.load(open(sys.argv[1]))
data = sys.argv[2]
jsonschema.Draft202012Validator.check_schema(schema)

def close(node):
    """Forbids members that the schema does not describe."""
    if isinstance(node, dict):
        if isinstance(node.get("properties"), dict):
            node["additionalProperties"] = False
        for value in node.values():
            close(value)
    elif isinstance(node, list):
        for value in node:
            close(value)

strict = copy.deepcopy(schema)
close(strict["$defs"])
validator = jsonschema.Draft202012Validator(strict)
open_validator = jsonschema.Draft202012Validator(schema)
seen = set()

def visit(node, value, where):
    """Notes the members of an answer that the schema describes."""
    while "$ref" in node:
        where = node["$ref"].rsplit("/", 1)[1]
        node = schema["$defs"][where]
    if "oneOf" in node and value is not None:
        return visit(next(n for n in node["oneOf"] if "$ref" in n), value, where)
    if isinstance(value, dict):
        for key in value:
            member = node.get("properties", {}).get(key, node.get("additionalProperties"))
            assert member is not None or "additionalProperties" in node, (where, key)
            path = f"{where}.{key}" if key in node.get("properties", {}) else where + ".*"
            seen.add(path)
            visit(member or {}, value[key], path)
    if isinstance(value, list) and "items" in node:
        for item in value:
            visit(node["items"], item, where + "[]")

def described(node, where):
    for key, member in node.get("properties", {}).items():
        yield f"{where}.{key}"
        yield from described(member, f"{where}.{key}")
    if isinstance(node.get("additionalProperties"), dict):
        yield from described(node["additionalProperties"], where + ".*")
    if "items" in node:
        yield from described(node["items"], where + "[]")

def wb(*args, names=1, lines=None):
    """Runs a command with --json, and checks its answers. *names*: the schema of each answer, or their number."""
    p = subprocess.run(["wb", *args, "--json"], capture_output=True, text=True)
    answers = [json.loads(line) for line in p.stdout.splitlines()]
    wanted = names.split() if isinstance(names, str) else None
    assert len(answers) == (len(wanted) if wanted else names), (args, p)
    for i, answer in enumerate(answers):
        name = answer["schema"].removeprefix("weighbridge.")
        assert list(answer)[:2] == ["schema", "version"] and (not wanted or wanted[i] == name), (args, answer)
        for check in strict, schema:
            jsonschema.Draft202012Validator({"$ref": "#/$defs/" + name, "$defs": check["$defs"]}).validate(answer)
        validator.validate(answer)
        visit({"$ref": "#/$defs/" + name}, answer, "")
    return answers

models, twins = data + "/models/", data + "/twins/"
wb("inspect", "one.safetensors", "odd.safetensors", "nowhere", "meta.gguf", names="inspect inspect failure inspect")
wb("inspect", "--no-tensors", "--no-metadata", twins + "llama", names="inspect")
wb("inspect", "--layers", "--tokens", "--template", "--modelfile", "--names", "both", twins + "qwen3moe", names="inspect")
wb("inspect", "--tokens", "--template", "--modelfile", "one.safetensors", names="inspect")
for model in "qwen3-mxfp4", "gemma3-4bit", "llama-mixed_3_6":
    wb("inspect", models + model, names="inspect")
# An MLX tensor in a compressed archive, and a column-major one. Without zlib, the archive is not compressed.
def archive(method):
    with zipfile.ZipFile("z.npz", "w", method) as z:
        for name, kind, order, shape in (("t.weight", "<u4", False, (4, 8)), ("t.scales", "<f4", False, (4, 1)),
                                         ("t.biases", "<f4", False, (4, 1)), ("u", "<f4", True, (2, 3))):
            head = f"{{'descr': '{kind}', 'fortran_order': {order}, 'shape': {shape}, }}".ljust(117).encode() + b"\n"
            z.writestr(name + ".npy", b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + bytes(4 * shape[0] * shape[1]))

archive(zipfile.ZIP_DEFLATED)
has_zlib = b"no-zlib" not in subprocess.run(["wb", "verify", "z.npz", "--json"], capture_output=True).stdout
if not has_zlib:
    archive(zipfile.ZIP_STORED)
wb("inspect", "z.npz", names="inspect")
wb("inspect", "--metadata", "general.architecture", twins + "llama.gguf", twins + "llama", "nowhere", names="metadata metadata failure")
for key in "general.architecture", "tokenizer.ggml.tokens", "llama.context_length":
    assert wb("inspect", "--metadata", key, twins + "llama.gguf")[0]["value"] is not None
failure, = wb("inspect", "--metadata", "general.architectur", twins + "llama.gguf", names="failure")
assert failure["path"] == twins + "llama.gguf" and "did you mean" in failure["error"]["message"]
wb("verify", "one.safetensors", "nan.safetensors", "lost", "stray", "foreign/html.safetensors", names="verify " * 5)
wb("doctor", "one.safetensors", "nowhere", names="verify failure")
wb("export", "one.safetensors", "@0", "-o", "x.npy", names="export")
wb("export", "one.safetensors", "@0", "-o", "x.txt", "--dry-run", names="export")
wb("get", twins + "llama", "layers.0.ffn.gate.weight", "layers.0.ffn.up.weight", "-o", "x.bin", names="get")
wb("get", models + "gemma3-4bit", "layers.0.ffn.up.weight", "-o", "x.bin", "--dry-run", names="get")
wb("codec", "list", names=len(subprocess.run(["wb", "codec", "list"], capture_output=True).stdout.splitlines()) - 1)
open("x.f32", "wb").write(struct.pack("<256f", *range(256)))
wb("codec", "encode", "--type", "Q4_K", "--cols", "256", "x.f32", "x.q4", names="codec")
wb("hash", "one.safetensors", "set", names="hash hash")
wb("hash", "--files", "one.safetensors", names="hash")
wb("convert", twins + "llama", "a.gguf", "--quant", "F16", names="convert")
wb("convert", twins + "llama", "b.gguf", "--quant", "Q8_0", "--dry-run", names="convert")
wb("convert", models + "qwen3-bf16", "q.gguf", "--quant", "Q4_K_M", names="convert")
wb("convert", models + "qwen3-mxfp4", "q.gguf", "--force", names="convert")
wb("convert", "a.gguf", "c.gguf", names="copy")
wb("convert", "a.gguf", "c.gguf", "--force", "--dry-run", names="copy")
wb("convert", "a.gguf", "c.gguf", names="failure")
open(".d.gguf.wb-partial", "w").write("part")
wb("convert", "--discard", "d.gguf", names="partial")
wb("convert", "--discard", "d.gguf", names="partial")
wb("convert", twins + "llama", "m", "--to", "ollama", "--store", "store", names="convert")
wb("inspect", "ollama://m", "--store", "store", "--modelfile", names="inspect")
os.makedirs("store/manifests/registry.ollama.ai/library/n")
pathlib.Path("store/manifests/registry.ollama.ai/library/n/latest").write_text("{}")
wb("list", "--store", "store", names="list list")
wb("diff", twins + "llama", "a.gguf", names="diff")
wb("diff", models + "qwen3-bf16", "q.gguf", names="diff")
wb("diff", "one.safetensors", "odd.safetensors", names="diff")
wb("diff", twins + "llama", twins + "gemma", names="diff")
wb("load", "a.gguf", names="load")
wb("load", "--verify", "ollama://m", "--store", "store", names="load")
wb("edit", "c.gguf", "--set", "a.b=1", names="edit")
wb("edit", "c.gguf", "--set", "a.b=2", names="edit")
wb("edit", "c.gguf", names="edit")
if os.environ["NETWORK"]:
    wb("pull", "hf://o/m", "--dry-run", names="pull")
    wb("pull", "hf://o/none", names="failure")
    wb("push", "hf://o/m", "a.gguf", "--dry-run", names="push")
wb("realign", "c.gguf", "--alignment", "64", names="edit")
for wrong in ["inspekt"], ["inspect"], ["inspect", "--top", "x", "a"], ["edit", "nowhere", "--set", "a=1"]:
    wb(*wrong, names="failure")
p = subprocess.run(["wb", "verify", "--deep", "a.gguf", "--progress", "json"], capture_output=True, text=True)
for event in map(json.loads, p.stderr.splitlines()):
    jsonschema.Draft202012Validator({"$ref": "#/$defs/progress", "$defs": strict["$defs"]}).validate(event)
    visit({"$ref": "#/$defs/progress"}, event, "")

described = {path for name, node in schema["$defs"].items() for path in described(node, name)}
if not has_zlib:
    described -= {"tensor.parts[].stored"}  # only parts of compressed tensors have it
if not os.environ["NETWORK"]:
    described = {path for path in described if not path.startswith(("pull.", "push."))}
assert len(described) > 200 and not described - seen, sorted(described - seen)
# The checks can fail.
answer, = wb("inspect", "one.safetensors")
for key, value in ("version", "1"), ("new", 1), ("format", None):
    try:
        validator.validate({**answer, key: value})
    except jsonschema.ValidationError:
        continue
    raise AssertionError(key)
open_validator.validate({**answer, "new": 1})
P

# The examples of the page
cp "$DATA/twins/llama.gguf" model.gguf
cp -r "$DATA/twins/llama" model
cp nan.safetensors model.safetensors
sed -n 's/^    \(wb .*| jq .*\)/\1/p' "$SOURCE/docs/json.md" >commands
[ "$(wc -l <commands)" -ge 6 ]
while read -r words; do
    sh -c "$words" >answer 2>message </dev/null || { echo "$words"; cat message; exit 1; }
    [ -s answer ] && ! grep -q null answer || { echo "$words"; cat answer; exit 1; }
done <commands
