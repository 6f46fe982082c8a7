# Completions in every installed shell.
python3 -B "$SOURCE/tests/cli/zoo.py"
cp "$DATA/twins/llama.gguf" m.gguf
wb edit m.gguf --set general.name=first --set 'a key=1' >/dev/null
cp -rL "$DATA/twins/llama" hf
echo '{"dim": 1, "rope": {"factor": 2, "list": [{"no": 1}], "sub": {"deep": 1}}, "last": []}' >hf/config.json
command -v bash >/dev/null || { echo "no bash"; exit 0; }
cat >ask.bash <<'B'
source "$SOURCE/cli/completion/wb.bash"
ask() {
    COMP_WORDS=("$@")
    COMP_CWORD=${at:-$(($# - 1))} # the word that is completed: the last, or word $at
    _wb
    echo "${COMPREPLY[*]}"
}
expect() {
    local want=$1 got
    shift
    got=$(ask "$@")
    [[ $got == "$want" ]] || { echo "wb $*: '$got', expected '$want'"; exit 1; }
}
expect 'inspect verify doctor export get codec hash diff load list convert edit realign pull push help --help --version' wb ''
expect 'verify --version' wb ve || true
expect 'inspect' wb ins
expect '--json --no-tensors --tensors --sort --top --metadata --config --layers --tree --tokens --template --modelfile --no-metadata --filter --names --compatible --family --max-header --store --follow-links --sandbox --plain-http --retries --netrc --progress --wide --color --verbose --help' wb inspect --
expect '--deep' wb verify one.safetensors --de
expect 'native canonical both' wb inspect --names ''
expect 'npy' wb export --format = n
expect 'bf16 bool' wb export x y --dtype b
expect '' wb export ''
expect 'weight' wb export one.safetensors we
expect 'weight' wb get one.safetensors scale we
expect 'weight' wb --filter x export --dtype f32 one.safetensors we
expect 'layers.0.weight layers.1.weight' wb export set l
expect 'doctor diff' wb help d
expect 'list encode decode' wb codec ''
expect 'up nearest' wb codec encode --e8m0 ''
expect '' wb inspect one
# Keys, and the quantizations
expect 'Q4_K_S Q4_K_M Q4_K' wb convert hf x.gguf --quant Q4_K
expect 'affine4:64 affine4:32 affine4:128' wb convert hf x.gguf --quant = affine4
expect 'general.name' wb inspect m.gguf --metadata general.n
at=3 expect 'general.name' wb inspect --metadata general.n m.gguf
at=5 expect 'llama.context_length' wb inspect --json --metadata = llama.con m.gguf
expect '' wb inspect m.gguf --metadata one.s # the shell completes the file
expect 'general.name=' wb edit m.gguf --set general.n
at=3 expect 'general.name' wb edit --delete general.n m.gguf
expect 'output.weight= output_norm.weight=' wb edit m.gguf --rename output
expect 'token_embd.weight' wb edit m.gguf --drop tok
expect 'dim= rope= rope.factor= rope.list= rope.sub= rope.sub.deep= last=' wb edit hf --set ''
expect 'tokenizer.ggml.model' wb inspect hf --metadata tokenizer.ggml.mo
expect '' wb edit --delete general.
B
sed -i '/|| true/d' ask.bash
bash ask.bash
bash -n "$SOURCE/cli/completion/wb.bash"
if command -v zsh >/dev/null; then
    zsh -n "$SOURCE/cli/completion/_wb"
    # On a terminal, zsh completes or lists the candidates after the Tab key.
    asked() {
        timeout 60 python3 -B - "$SOURCE/cli/completion" "$1" "$2" <<'P'
import os, pty, select, shlex, sys, time
folder, typed, wanted = sys.argv[1:]
child, fd = pty.fork()
if child == 0:
    os.environ.update(PS1="READY> ", TERM="dumb", COLUMNS="200")
    os.execvp("zsh", ["zsh", "-f", "-i"])
seen = b""
def read_until(text):
    global seen
    deadline = time.time() + 15
    while text not in seen:
        ready = select.select([fd], [], [], max(0, deadline - time.time()))[0]
        assert ready, (typed, text, seen)
        seen += os.read(fd, 4096)
    seen = b""
os.write(fd, f"fpath=({shlex.quote(folder)} $fpath); autoload -U compinit; compinit -u -D; echo O''K\n".encode())
read_until(b"OK")
os.write(fd, f"wb {typed}".encode())
read_until(typed.encode())
for _ in range(2): # the second key lists the candidates if there are several
    os.write(fd, b"\t")
    time.sleep(0.3)
read_until(wanted.encode())
os.close(fd)
P
    }
    asked 'inspect m.gguf --metadata=llama.att' 'llama.attention.head_count'
    asked 'edit m.gguf --delete llama.att' 'llama.attention.head_count'
    asked 'convert hf x.gguf --quant Q4_K' 'Q4_K_M'
    asked 'export m.gguf blk.0.attn' 'blk.0.attn_q.weight'
fi
if command -v fish >/dev/null; then
    HOME=$PWD
    export HOME
    fish -n "$SOURCE/cli/completion/wb.fish"
    ask() {
        fish -c "source '$SOURCE/cli/completion/wb.fish'; complete -C '$1'" | cut -f1 | tr '\n' ' '
    }
    [ "$(ask 'wb ins')" = 'inspect ' ]
    [ "$(ask 'wb inspect --fil')" = '--filter ' ]
    [ "$(ask 'wb export one.safetensors --format ')" = 'npy raw text ' ]
    ask 'wb export one.safetensors wei' | grep -qw weight
    [ "$(ask 'wb edit m.gguf --delete general.n')" = 'general.name ' ]
    [ "$(ask 'wb edit m.gguf --set general.n')" = 'general.name= ' ]
    [ "$(ask 'wb edit hf --set rope.f')" = 'rope.factor= ' ]
    ask 'wb convert hf x.gguf --quant Q4_K' | grep -qw Q4_K_M
    ask 'wb inspect m.gguf --metadata=general.n' | grep -qw general.name
fi
