# Edits of files in an Ollama store are refused with advice, and change nothing.
wb convert "$DATA/twins/llama.gguf" m --to ollama --store store
blob=$(readlink -f "$(find store/blobs -size +8k)")
cp "$blob" before
export OLLAMA_MODELS=$PWD/store
ln -s "$blob" link.gguf
refused() {
    code=0
    wb "$@" >answer 2>message || code=$?
    [ "$code" -eq 3 ] || { echo "$code: $*"; cat message; exit 1; }
    [ ! -s answer ]
    grep -q 'digest of .*bytes' message
    grep -q "wb convert --to ollama" message
}
for path in "$blob" link.gguf; do
    refused edit "$path" --set general.name=other
    refused edit "$path" --set general.name=other --in-place
    refused edit "$path" --set general.name=other --dry-run
    refused realign "$path" --alignment 4096
    wb edit "$path" # which undoes what was broken off, and there is nothing
done
refused edit ollama://m --set general.name=other
refused realign ollama://m --alignment 4096
cmp before "$blob"
wb verify -q --deep ollama://m
# A copy of a blob outside of a store can be edited, whatever its name.
cp "$blob" "$(basename "$blob")"
wb edit "$(basename "$blob")" --set general.name=other
if cmp -s before "$(basename "$blob")"; then exit 1; fi
