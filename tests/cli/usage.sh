# golden: the messages for invalid command lines
python3 -B "$SOURCE/tests/cli/zoo.py"
try() {
    echo "\$ wb $*"
    wb "$@"
    echo "code $?"
}
try
try inspec x
try frobnicate
try inspect
try verify --jsn one.safetensors
try inspect --deep one.safetensors
try --json
try inspect --json=yes one.safetensors
try inspect --filter
try inspect --names=short one.safetensors
try inspect --metadata nothing one.safetensors
try inspect --metadata nowhere.safetensors
try --metadata inspect one.safetensors --no-tensors --filter none
try inspect --max-header 12x one.safetensors
try inspect --max-header 4G one.safetensors
try inspect --max-header 99999999999999999999 one.safetensors
try inspect --max-header 100 one.safetensors
try inspect -x one.safetensors
try help frobnicate
try export one.safetensors
try export one.safetensors weight
try export one.safetensors weight extra -o x
try export one.safetensors weigth -o x
try export one.safetensors @99 -o x
try export one.safetensors weight --dtype f33 -o x
try export one.safetensors weight --slice 9 -o x
try export one.safetensors weight --slice 0,0,0 -o x
try export one.safetensors weight --format csv -o x
try export one.safetensors four --slice :,1 --format raw -o x
try export one.safetensors four --dtype f4 -o x.npy
try export one.safetensors weight --json -o -
try verify "$(printf 'no\033[31mwhere')"
try "$(printf 'no\033[31mwhere')"
try inspect "--$(printf 'no\033[31mwhere')" x
try verify -- --json
try convert one.safetensors x --lora ''
try verify --manifest= one.safetensors
try export one.safetensors weight -o ''
# Options may stand anywhere, and the last one counts.
try --filter u inspect one.safetensors --no-metadata --filter=byte --no-tensors
[ ! -e x ] && [ ! -e x.npy ] || echo "something was written"
