# Completions in every installed shell.
python3 -B "$SOURCE/tests/cli/zoo.py"
command -v bash >/dev/null || { echo "no bash"; exit 0; }
cat >ask.bash <<'B'
source "$SOURCE/cli/completion/wb.bash"
ask() {
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    _wb
    echo "${COMPREPLY[*]}"
}
expect() {
    local want=$1 got
    shift
    got=$(ask "$@")
    [[ $got == "$want" ]] || { echo "wb $*: '$got', expected '$want'"; exit 1; }
}
expect 'inspect verify doctor export get codec hash diff load list convert edit realign help --help --version' wb ''
expect 'verify --version' wb ve || true
expect 'inspect' wb ins
expect '--json --no-tensors --tensors --sort --top --metadata --config --layers --tokens --template --modelfile --no-metadata --filter --names --compatible --max-header --store --follow-links --sandbox --plain-http --retries --netrc --progress --wide --color --verbose --help' wb inspect --
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
B
sed -i '/|| true/d' ask.bash
bash ask.bash
bash -n "$SOURCE/cli/completion/wb.bash"
if command -v zsh >/dev/null; then
    zsh -n "$SOURCE/cli/completion/_wb"
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
fi
