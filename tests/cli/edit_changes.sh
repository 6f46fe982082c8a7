# golden: wb edit reports each change, and refuses to delete a key that does not exist
cp "$DATA/twins/llama.gguf" m.gguf
mkdir hf
printf '{"dim": 8, "rope": {"type": "x"}, "long": "%0100d"}\n' 0 >hf/config.json
cp hf/config.json config
try() {
    echo "\$ wb $*"
    code=0
    wb "$@" 2>&1 || code=$?
    [ "$code" = 0 ] || echo "code $code"
}
for more in --dry-run --in-place; do
    try edit m.gguf --set llama.context_length=32768 --set general.name=other $more
done
try edit m.gguf --set llama.context_length=32768 # nothing changes
try edit m.gguf --set llama.context_lenght=5 --set llama.context_lenght=6 --delete llama.context_lenght --dry-run
try edit m.gguf --set 'general.tags=["a", "b"]' --set x.y=f32:0.5 --set x.z=i8:-3 --set x.b=true --dry-run
try edit m.gguf --rename general.name=general.title --set general.title=third --dry-run
try edit m.gguf --rename output.weight=head.weight --drop token_embd.weight --dry-run
try edit m.gguf --set llama.context_lenght=5 --dry-run
try edit m.gguf --set "general.name=$(printf '%0100d' 0)" --dry-run
before=$(cksum m.gguf)
try edit m.gguf --delete general.nmae
try edit m.gguf --set general.name=x --delete no.such.key
[ "$before" = "$(cksum m.gguf)" ]
try edit m.gguf --delete no.such.key --ignore-missing
try edit m.gguf --delete general.name --delete general.name --ignore-missing
try edit m.gguf --set general.name=new --json --dry-run | grep -v '^{"schema":"weighbridge.edit",'
# config.json
try edit hf --set dim=16 --set rope.type=yarn --set new=1 --rename long=longer --dry-run
cmp hf/config.json config
try edit hf --delete rope.type --delete long
try edit hf --delete long
try edit hf --delete long --ignore-missing
