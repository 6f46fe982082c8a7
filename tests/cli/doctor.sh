# golden: every kind of file that users find in place of weights
python3 -B "$SOURCE/tests/cli/zoo.py"
for path in one.safetensors set lost stray nan.safetensors empty-model.safetensors; do
    wb doctor $path
    echo "code $?"
done
for path in foreign/*; do
    wb doctor "$path" || [ $? = 2 ] || echo "wrong exit code"
done
wb doctor foreign
echo "code $?"
mkfifo pipe
wb doctor pipe
echo "code $?"
