# golden: the list of the models of a store, and models opened by name
PYTHONPATH=$SOURCE/tests/cli python3 -B "$SOURCE/tests/cli/stores.py"
HOME=$PWD
export HOME
unset OLLAMA_MODELS
wb list --store store
echo "code $?"
wb list --store store --json | sed 's/"path":"[^"]*"/"path":…/'
wb list
echo "code $?"
wb list --store nowhere
echo "code $?"
OLLAMA_MODELS=$PWD/store wb list | head -3
mkdir -p .ollama
mv store .ollama/models
wb list | head -2
mv .ollama/models store
run() {
    wb "$@" 2>&1
    echo "code $?"
}
# A model is opened by its name, as ollama:// and by the path of its manifest.
for path in plain ollama://plain ollama://someone/plain:latest ollama://registry.ollama.ai/library/PLAIN; do
    run verify --store store $path
done
run verify store/manifests/registry.ollama.ai/library/plain/latest
OLLAMA_MODELS=$PWD/store run verify ollama://plain
unset OLLAMA_MODELS
run verify ollama://plain
run verify --store store ollama://plian 'ollama://../x'
wb export --store store plain model.norm.weight --format text -o -
run doctor --store store plain
wb list extra
# Without a store in the environment.
unset HOME
run list
run convert store/manifests/registry.ollama.ai/library/plain/latest copy --to ollama
HOME= run verify ollama://plain
