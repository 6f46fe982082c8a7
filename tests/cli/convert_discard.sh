# An interrupted conversion says what it keeps and how to continue. --discard removes it, and nothing else.
strace -o /dev/null true 2>/dev/null || { echo "skipped: strace cannot trace here"; exit 0; }
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" # which LeakSanitizer does by tracing, too
model=$DATA/models/qwen3-bf16
names() {
    find . -type f ! -name trace ! -name message ! -name answer ! -path './bin*' ! -path './store/blobs/sha*' | sort
}
# Interrupts a conversion while its result is synced.
interrupt() {
    result=0
    strace -f -qq -o trace -e trace=fsync -e inject=fsync:signal=$1:when=1 wb convert -j 1 "$model" \
        "$2" --quant F16 $3 2>message || result=$?
    [ "$result" = "$4" ] || { echo "$2 ended with $result"; cat message; exit 1; }
}
mkdir sub store
echo mine >.other.gguf.wb-partial
echo mine >.a.gguf
echo mine >sub/.a.gguf.wb-partial
before=$(names)
while read -r out partial options; do
    want=$before
    for signal in SIGINT SIGTERM; do
        [ $signal = SIGINT ] && code=130 || code=143
        interrupt $signal "$out" "$options" $code
        grep -q "^wb: the partial result is kept: $partial ([0-9.]* [KM]iB)" message || { cat message; exit 1; }
        grep -q 'The same command continues' message
        command=$(sed -n "s/.*'\(wb convert --discard .*\)' removes.*/\1/p" message)
        sh -c "$command --dry-run" >answer
        grep -q "^would remove $partial" answer
        sh -c "$command --json" >answer
        python3 -c 'import json; a = json.load(open("answer")); assert a["removed"] and a["files"] >= 2 and a["bytes"] > 0, a'
        [ "$before" = "$(names)" ] || { names; exit 1; }
        wb convert "$model" "$out" $options --discard >answer
        grep -q "^no partial result of $out" answer
    done
    # The same command continues, and what is kept is not mentioned after a refusal.
    interrupt SIGINT "$out" "$options" 130
    wb convert "$model" "$out" --quant F16 $options --json >answer
    grep -q convert-resumed answer
    result=0
    wb convert "$model" "$out" --quant F16 $options 2>message || result=$?
    [ $result = 4 ] && ! grep -q kept message || exit 1
    rm -rf "$out" big-* store/blobs store/manifests big.*.json
    [ "$before" = "$(names)" ] || { names; exit 1; }
done <<'L'
a.gguf ./.a.gguf.wb-partial
folder ./.folder.wb-partial --to mlx
m store/blobs/.registry.ollama.ai+library+m+latest.wb-partial --to ollama --store store
big.gguf ./.big-0000[0-9]-of-0000[0-9].gguf.wb-partial --max-shard-size 300KB
big.safetensors ./.big-0000[0-9]-of-0000[0-9].safetensors.wb-partial --max-shard-size 300KB
L

# A run that was killed while it renamed the parts of a set left final names, which are removed too.
mkdir parts
for name in set-00001-of-00002.gguf set-00002-of-00002.gguf other-00001-of-00001.gguf; do
    echo part >parts/.$name.wb-partial
done
ln parts/.set-00002-of-00002.gguf.wb-partial parts/set-00002-of-00002.gguf
echo mine >parts/other-00001-of-00001.gguf
wb convert --discard parts/set.gguf
[ "$(ls -A parts)" = ".other-00001-of-00001.gguf.wb-partial
other-00001-of-00001.gguf" ]
wb convert --discard parts/other.gguf # another file with the name of the part stays
[ "$(ls -A parts)" = other-00001-of-00001.gguf ]
# Nothing is removed while a conversion runs.
touch .a.gguf.wb-partial .a.gguf.wb-resume
result=0
flock .a.gguf.wb-resume wb convert --discard a.gguf 2>message || result=$?
[ $result = 5 ] && grep -q 'another conversion' message && [ -e .a.gguf.wb-partial ] || exit 1
# Nor if the journal cannot be locked, because a conversion may be running.
for fault in openat:error=EACCES openat:error=EMFILE flock:error=ENOLCK; do
    result=0
    strace -qq -o trace -P "$PWD/.a.gguf.wb-resume" -e inject=$fault wb convert --discard "$PWD/a.gguf" 2>message || result=$?
    [ $result = 5 ] && grep -q 'cannot lock the journal' message && [ -e .a.gguf.wb-partial ] || exit 1
done
wb convert --discard a.gguf
[ ! -e .a.gguf.wb-partial ] && [ ! -e .a.gguf.wb-resume ] || exit 1
