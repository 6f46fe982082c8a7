# If the output is a symbolic link to a file or a folder, the target is created or replaced, and the link stays.
model=$DATA/twins/qwen2
mkdir elsewhere
ln -s elsewhere/real link
ln -s elsewhere/real/ slash
for to in safetensors mlx; do # by copying, and by converting
    # What is not there yet
    wb convert "$model" link --to "$to"
    [ -L link ]
    [ -d elsewhere/real ]
    [ ! -L elsewhere/real ]
    wb verify -q elsewhere/real
    # What is there
    echo old >elsewhere/real/old
    for out in link link/ slash; do
        code=0
        wb convert "$model" $out --to "$to" 2>message || code=$?
        [ "$code" = 4 ]
        grep -q 'the folder exists' message
    done
    wb convert "$model" slash --to "$to" --force
    [ -L slash ]
    [ -L link ]
    [ -e elsewhere/real/old ]
    rm elsewhere/real/old
    [ -s elsewhere/real/config.json ]
    wb verify -q link
    # The folder of the source by another name is none to be replaced.
    code=0
    wb convert elsewhere/real link --to "$to" --force 2>message || code=$?
    [ "$code" = 4 ]
    grep -q 'the output folder contains an input file: choose another output path' message
    rm -r elsewhere/real
done
# A link to a file and a cyclic link are not accepted as a folder.
touch file
ln -s file to-file
ln -s round round
for out in to-file round; do
    code=0
    wb convert "$model" $out --to mlx 2>message || code=$?
    [ "$code" -ge 3 ]
    [ -L $out ]
    [ ! -s file ]
done
[ -z "$(find . -name '.wb*' -o -name '.*.wb-*')" ]

# Partial files are in the directory of the link's target, and are resumed through every name of the output.
strace -o /dev/null true 2>/dev/null || { echo "skipped: strace cannot trace here"; exit 0; }
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" # which LeakSanitizer does by tracing, too
ln -s elsewhere/real.gguf link.gguf
for out in link link.gguf; do
    to=safetensors
    [ $out = link ] || to=gguf
    real=elsewhere/$(basename "$(readlink $out)")
    code=0
    strace -f -qq -o trace -e trace=fsync -e inject=fsync:signal=SIGKILL:when=1 \
        wb convert "$model" $out --to $to --quant F16 || code=$?
    [ "$code" != 0 ]
    [ -e "elsewhere/.$(basename "$real").wb-resume" ]
    [ -e "elsewhere/.$(basename "$real").wb-partial" ]
    wb convert "$model" "$real" --to $to --quant F16 --json >answer
    grep -q convert-resumed answer
    [ -L $out ]
    [ -e "$real" ]
done
[ -z "$(find . -name '.wb*' -o -name '.*.wb-*')" ]
