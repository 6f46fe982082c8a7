# --sandbox: every command that has this option gives the same output as without it, and writes no files.
case $(uname -m) in x86_64 | aarch64) ;; *) exit 0 ;; esac
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 # looking for leaks takes another process
export ASAN_OPTIONS
wb inspect --sandbox --json "$DATA/bad/gguf" >/dev/null 2>err || true
! grep -q 'no sandbox\|--sandbox needs' err || exit 0
for command in inspect verify doctor hash; do
    for path in "$DATA"/models/* "$DATA"/bad/safetensors/a0*; do
        code=0
        wb $command "$path" >plain.out 2>plain.err || code=$?
        confined=0
        wb $command --sandbox "$path" >out 2>err || confined=$?
        [ $code = $confined ] || { echo "wb $command $path: $code, in the sandbox $confined"; exit 1; }
        cmp plain.out out
        cmp plain.err err
    done
done
model=$(find "$DATA/models" -name '*.safetensors' | LC_ALL=C sort | head -n 1)
wb inspect - <"$model" >plain.out || true
wb inspect --sandbox - <"$model" >out || true
cmp plain.out out
# Commands that write fail.
code=0
wb hash --sandbox --manifest made.json "$DATA/models/gemma3-4bit" >/dev/null 2>err || code=$?
[ $code = 5 ] && [ ! -e made.json ] || { cat err; exit 1; }
