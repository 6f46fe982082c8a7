# golden: the text output of wb inspect
python3 -B "$SOURCE/tests/cli/zoo.py"
wb inspect one.safetensors
echo "code $?"
wb inspect set set/model-00001-of-00002.safetensors
echo "code $?"
wb inspect --no-tensors --metadata --filter '*e[xi]?*' one.safetensors
echo "code $?"
wb inspect --no-metadata --no-tensors stray
echo "code $?"
wb inspect odd.safetensors empty-model.safetensors
echo "code $?"
wb inspect foreign/short-data.safetensors nowhere.safetensors set/model.safetensors.index.json
echo "code $?"
wb inspect meta.gguf
echo "code $?"
wb inspect meta.gguf --metadata | grep -c 'w599.x0a'
