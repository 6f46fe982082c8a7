# golden: findings as lines, and the verdict
python3 -B "$SOURCE/tests/cli/zoo.py"
for path in one.safetensors set lost stray nan.safetensors foreign/long.safetensors \
    foreign/short-data.safetensors nowhere; do
    wb verify $path
    echo "code $?"
done
wb verify --quiet one.safetensors set nan.safetensors
echo "code $?"
wb verify --deep --json nan.safetensors foreign/empty.safetensors nowhere one.safetensors
echo "code $?"
