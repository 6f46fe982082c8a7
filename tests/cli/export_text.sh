# golden: tensors as text
python3 -B "$SOURCE/tests/cli/zoo.py"
for name in bad badpair bad64; do
    wb export nan.safetensors $name --format text -o -
done
for name in wide count pair weight exact u half brain short eight scale byte flag four none; do
    wb export one.safetensors $name --format text -o -
done
wb export one.safetensors exact --dtype f16 --format text -o -
wb export one.safetensors exact --dtype bf16 --format text -o -
wb export one.safetensors weight --dtype f6_e2m3 --format text -o -
wb export one.safetensors weight --slice 1:,::2 -o out.txt
cat out.txt
wb export odd.safetensors @0 -o out.txt
cat out.txt
wb export one.safetensors weight --slice 1 -o out.npy --dry-run
wb export one.safetensors weight --slice 1 -o - --dry-run --json
wb export one.safetensors brain -o out.npy --json
