# An existing output is refused without --force, and nothing that does not belong to the replaced model is removed.
models=$DATA/models
llama=$models/llama-tied-float16-4bit
code() {
    want=$1
    shift
    result=0
    wb "$@" >answer 2>message || result=$?
    [ "$result" -eq "$want" ] || { echo "wb $* ended with $result"; cat answer message; exit 1; }
}
state() {
    find . ! -name message ! -name answer ! -path './bin*' -printf '%P %y %m %l\n' | sort
    find . -type f ! -name message ! -name answer -exec cksum {} + | sort
}

# ---- a file: another model is there, a copy is there, a link is there ----
wb convert "$models/qwen3-bf16" model.gguf
ln -s model.gguf link.gguf
ln -s nothing.gguf dangling.gguf
wb convert model.gguf model.npz --to npz
before=$(state)
for out in model.gguf link.gguf; do
    code 4 convert "$llama" $out --quant Q8_0
    grep -q "^wb: $out: the file exists" message
    grep -q -e '--force' message
    code 4 convert "$llama" $out --quant Q8_0 --dry-run
    code 4 convert "$llama" $out --quant Q8_0 --json
    grep -q '"code":"output-exists"' answer
done
code 4 convert model.gguf link.gguf --force # a file is never converted onto itself
code 4 convert "$models/qwen3-bf16/model.safetensors" model.npz
cp model.gguf copy.gguf
code 4 convert copy.gguf model.gguf
rm copy.gguf
[ "$before" = "$(state)" ]

code 0 convert "$llama" model.gguf --quant Q8_0 --force --dry-run
grep -qx 'replaces model.gguf' answer
[ "$before" = "$(state)" ]
code 0 convert "$llama" model.gguf --quant Q8_0 --force --dry-run --json
python3 -c 'import json; assert json.load(open("answer"))["replaces"] == ["model.gguf"]'
chmod 640 model.gguf
code 0 convert "$llama" link.gguf --quant Q8_0 --force
[ -L link.gguf ] && [ "$(stat -c %a model.gguf)" = 640 ] || exit 1
wb inspect --config model.gguf | grep -q 'llama'
code 0 convert "$llama" dangling.gguf --quant Q8_0 # replaces nothing
cmp nothing.gguf model.gguf
code 0 convert nothing.gguf copy.gguf
code 0 convert nothing.gguf copy.gguf --force
cmp nothing.gguf copy.gguf
rm -f ./*.gguf ./*.npz

# ---- a folder: only the files of the replaced model are removed ----
wb convert "$models/qwen3-4bit-3shards" folder --to safetensors --max-shard-size 50KB
shards=$(cd folder && ls model-*.safetensors)
mkdir -p folder/.git/objects folder/onnx
echo mine >folder/notes.txt
echo mine >folder/.git/objects/ab
echo mine >folder/onnx/model.onnx
echo mine >folder/adapter.safetensors
echo mine >folder/merges.txt
echo mine >folder/model.safetensors
rm folder/model.safetensors
ln -s notes.txt folder/link
chmod 750 folder
chmod 500 folder/onnx
touch -d 2001-01-01 folder/notes.txt folder/onnx
cp -a folder saved
before=$(state)
code 4 convert "$llama" folder --to mlx
grep -q '^wb: folder: the folder exists' message
[ "$before" = "$(state)" ]
code 0 convert "$llama" folder --to mlx --force --dry-run
for name in $shards config.json tokenizer.json merges.txt model.safetensors.index.json; do
    [ ! -e saved/$name ] || grep -qx "replaces folder/$name" answer || { echo "$name is not listed"; cat answer; exit 1; }
done
! grep -q 'notes\|onnx\|git\|link\|adapter' answer || exit 1
[ "$before" = "$(state)" ]
code 0 convert "$llama" folder --to mlx --force
for name in notes.txt .git/objects/ab onnx/model.onnx link adapter.safetensors; do
    diff "saved/$name" "folder/$name"
    [ "$(stat -c '%a %Y' saved/$name)" = "$(stat -c '%a %Y' folder/$name)" ]
done
[ "$(stat -c '%a' folder)" = 750 ] && [ "$(stat -c '%a %Y' folder/onnx)" = "$(stat -c '%a %Y' saved/onnx)" ] || exit 1
[ -L folder/link ] && [ ! -e folder/merges.txt ] && [ -e folder/model.safetensors ] || exit 1
for name in $shards; do
    [ ! -e "folder/$name" ]
done
[ -z "$(find . -name '.wb*' -o -name '*.wb-*')" ]
code 0 verify folder
wb convert "$llama" fresh --to mlx
for name in $(ls fresh); do
    cmp "fresh/$name" "folder/$name"
done
# The same with a copy in the format of the input, which is written by another method.
code 0 convert "$llama" folder --to safetensors --force --max-shard-size 100KB
cmp saved/notes.txt folder/notes.txt
cmp saved/.git/objects/ab folder/.git/objects/ab
code 0 verify folder
code 1 diff --only values folder "$models/qwen3-bf16"
code 0 diff --only values folder "$llama"
# What is read from is not replaced: neither as the model, nor as a part of it.
code 4 convert folder folder --to mlx --quant affine4:64 --force
ln folder/config.json other.json
mkdir second
cp "$models/qwen3-bf16/model.safetensors" second
ln other.json second/config.json
code 4 convert folder second --to mlx --force
chmod 700 folder/onnx
rm -rf folder saved fresh second other.json

# ---- a model of a store ----
code 0 convert "$models/qwen3-bf16" name --to ollama --store store
before=$(state)
code 4 convert "$llama" NAME --to ollama --store store
grep -q 'name' message
[ "$before" = "$(state)" ]
code 0 convert "$llama" name --to ollama --store store --force --dry-run
grep -qx 'replaces store/manifests/registry.ollama.ai/library/name/latest' answer
[ "$before" = "$(state)" ]
code 0 convert "$llama" name --to ollama --store store --force

# ---- a file that appears during the conversion is not replaced ----
if strace -o /dev/null true 2>/dev/null; then
    ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"
    export ASAN_OPTIONS
    python3 -B - "$llama" <<'P'
import os, signal, subprocess, sys, time
for args in (["--quant", "Q8_0"], ["--quant", "Q8_0", "--max-memory", "1MiB"]):
    # the command is stopped after it looked at the output, when it syncs the data
    p = subprocess.Popen(["strace", "-f", "-qq", "-o", "trace", "-e", "inject=fsync:delay_enter=700000:when=1", "wb",
                          "convert", sys.argv[1], "late.gguf", *args], stderr=subprocess.PIPE)
    for _ in range(400):
        if os.path.exists("trace") and "fsync" in open("trace").read():
            break
        time.sleep(.01)
    open("late.gguf", "w").write("mine")
    message = p.communicate()[1].decode()
    assert p.returncode == 4 and "late.gguf: the file exists" in message, (p.returncode, message)
    assert open("late.gguf").read() == "mine"
    os.remove("trace")
    assert subprocess.run(["wb", "convert", sys.argv[1], "late.gguf", *args, "--force"]).returncode == 0
    assert open("late.gguf", "rb").read(4) == b"GGUF"
    os.remove("late.gguf")
P
fi

# ---- --interactive asks on a terminal, and only there ----
wb convert "$models/qwen3-bf16" asked.gguf
before=$(state)
code 4 convert "$llama" asked.gguf --quant Q8_0 -i </dev/null
[ "$before" = "$(state)" ]
python3 -B - "$llama" <<'P'
import os, pty, sys
def ask(answer):
    pid, fd = pty.fork()
    if pid == 0:
        os.execvp("wb", ["wb", "convert", sys.argv[1], "asked.gguf", "--quant", "Q8_0", "--interactive"])
    said = b""
    while b"[y/N]" not in said:
        said += os.read(fd, 1000)
    os.write(fd, answer)
    try:
        while True:
            said += os.read(fd, 1000)
    except OSError:
        pass
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), said
before = open("asked.gguf", "rb").read()
for answer in (b"n\n", b"\n", b"\x04", b"nonsense\n"):
    code, said = ask(answer)
    assert code == 4 and b"asked.gguf" in said, (code, said)
    assert open("asked.gguf", "rb").read() == before
code, said = ask(b"y\n")
assert code == 0, said
assert open("asked.gguf", "rb").read() != before
P
