# golden: Modelfiles of models in a store
PYTHONPATH=$SOURCE/tests/cli python3 -B "$SOURCE/tests/cli/stores.py"
wb inspect --store store chat --modelfile | sed 's/sha256-[0-9a-f]*$/sha256-…/'
echo "code $?"
wb inspect ollama://someone/plain --store store --modelfile
wb inspect store/manifests/registry.ollama.ai/library/plain/latest --modelfile
wb inspect chat.gguf --modelfile
echo "code $?"
wb inspect --store store chat --metadata ollama.license.2
wb inspect --store store chat --template --metadata ollama.system
wb inspect --store store chat --modelfile --json --no-tensors --no-metadata | grep -c '"modelfile":"# Modelfile'
wb inspect --store store four
