# Runs every command that README.md, docs and the man pages show, as it is written there, with a real model under
# the names in these commands, with fake drivers, and with a server of the tests as the hub.
. "$SOURCE/tests/net/servers.sh"
mkdir -p hub/owner
cp -r "$SOURCE/demo/tiny-pycode" hub/owner/name
mkdir hub/owner/name/gguf
wb convert "$SOURCE/demo/tiny-pycode" hub/owner/name/gguf/model.gguf --to gguf
echo '{"branches": {"v1.0": "owner/name", "dev": "owner/name"}}' >hub/owner/name/.hub.json
start_hub hub
HF_TOKEN=hf_good # the token that the server accepts
export HF_TOKEN

# Returns the commands of a page, without optional parts in brackets and without explanations.
on_page() {
    sed -n 's/^    \(wb .*\)/\1/p' "$1" | sed 's/ \[[^]]*\]//g; s/   .*//; s/ # .*//'
}

# Returns the commands of a man page, except those for other programs and other stores.
in_manual() {
    sed -n '/^.SH EXAMPLES/,/^.SH SEE/s/^\.B \(wb .*\)/\1/p' "$1" |
        sed "s/\\\\-/-/g; s/\\\\(aq/'/g; s/\\\\(ti/~/g; / jq /d; /--store/d"
}

# Creates the files that the commands expect.
prepare() {
    ln -s "$SOURCE/demo/tiny-pycode" from
    cp -r from/. model
    cp -r from/. llama
    wb edit llama --set 'rope_scaling={"type": "linear", "factor": 1.0}'
    cp from/model.safetensors model.safetensors
    cp from/model.safetensors m.safetensors
    mkdir parts models
    ln -s ../llama models/llama
    wb convert from model.gguf --to gguf
    wb convert from llama.gguf --to gguf
    wb convert from llama-Q4_K_M.gguf --quant Q4_K_M
    wb convert from parts/model.gguf --max-shard-size 2M
    wb convert from llama3 --to ollama
    head -c 2000000 model.gguf >download.gguf
    cp model.gguf model-two.gguf
    head -c 65536 model.gguf >weights.f32
    wb codec encode --type Q4_K --cols 4096 weights.f32 weights.q4_k
    printf '{{ messages }}' >chat.jinja
}

# Runs the commands of a page one after another.
try() {
    rm -rf place
    mkdir place
    cd place
    HOME=$PWD
    export HOME
    prepare >../output
    while read -r words; do
        case $words in
        *hf://*) has_network || continue ;;
        *https://example.org/*) continue ;; # no such server; cli.pull_web has a server
        esac
        case $words in
        *" doctor download"*) want=2 ;; # it is not whole
        *" diff --only"*) want=0 ;;
        *" diff "*) want=1 ;; # they differ
        *) want=0 ;;
        esac
        # Commands of one page write to the same outputs.
        case $words in
        "wb convert "*) words="wb convert --force ${words#wb convert }" ;;
        esac
        got=0
        LD_LIBRARY_PATH=$FAKE_DRIVERS sh -c "$words" >../output 2>&1 </dev/null || got=$?
        [ "$got" = "$want" ] || { echo "$1: $words: exit $got, not $want" && cat ../output && exit 1; }
        count=$((count + 1))
    done <../commands
    cd ..
}

count=0
for page in README.md docs/convert.md docs/devices.md; do
    on_page "$SOURCE/$page" >commands
    [ -s commands ]
    try $page
done
for page in "$SOURCE"/docs/man/*.1; do
    in_manual "$page" >commands
    [ ! -s commands ] || try "$page"
done
[ $count -ge 60 ]
