# golden: manifests and blobs opened by their paths, and their errors
PYTHONPATH=$SOURCE/tests/cli python3 -B "$SOURCE/tests/cli/stores.py"
models=store/manifests/registry.ollama.ai/library
zeros=0000000000000000000000000000000000000000000000000000000000000000
try() {
    got=0
    wb verify "$1" >out 2>&1 || got=$?
    # Digests are told only where there is a libcrypto: digest.sh.
    sed '/^info/,+1d; /ollama-blob-digest/,+1d; s/[0-9a-f]\{64\}/…/' out
    echo "code $got"
}
make() { # a model whose manifest is standard input
    mkdir -p "$models/$1"
    cat >"$models/$1/latest"
}
sed 's/\(.*\)sha256:[0-9a-f]*/\1sha256:..\/..\/x/' "$models/plain/latest" | make digest
sed 's/{/{\r\n\t/g' "$models/plain/latest" | make spaced
echo 'error: not found, or not to be had' | make text
printf '{"schemaVersion":2}' | make bare
for model in plain spaced digest text bare hurt lost short; do
    echo "--- $model"
    try "$models/$model/latest"
done
echo "--- outside of a store"
cp "$models/digest/latest" digest.json
cp "$models/hurt/latest" hurt.json
try digest.json
try hurt.json
echo '{"model_type":"llama"}' >config.json
try config.json
echo '{"layers":[{"name":"dense"}]}' >layers.json
try layers.json
echo "--- blobs"
try "store/blobs/sha256-$zeros"
try store/blobs/sha256-0123
try blobs/sha256-0123
