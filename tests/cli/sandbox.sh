# --sandbox: every command that has this option gives the same output as without it, and writes no files.
case $(uname -m) in x86_64 | aarch64) ;; *) exit 0 ;; esac
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 # looking for leaks takes another process
export ASAN_OPTIONS
wb inspect --sandbox --json "$DATA/bad/gguf" >/dev/null 2>err || true
! grep -q 'no sandbox\|--sandbox needs' err || exit 0
for command in inspect verify doctor hash; do
    for path in "$DATA"/models/* "$DATA"/npy/*.npz "$DATA"/bad/safetensors/a0* "$DATA"/listings/store; do
        code=0
        wb $command "$path" >plain.out 2>plain.err || code=$?
        confined=0
        wb $command --sandbox "$path" >out 2>told || confined=$?
        grep -v Landlock told >err || true # the warning of systems without Landlock
        [ $code = $confined ] || { echo "wb $command $path: $code, in the sandbox $confined"; exit 1; }
        cmp plain.out out
        cmp plain.err err
    done
done
model=$(find "$DATA/models" -name '*.safetensors' | LC_ALL=C sort | head -n 1)
wb inspect - <"$model" >plain.out || true
wb inspect --sandbox - <"$model" >out || true
cmp plain.out out
# A model in a Hugging Face cache, a model in a store, patterns, and a file that is named alone
same() {
    code=0
    wb "$@" >plain.out 2>plain.err || code=$?
    command=$1
    shift
    confined=0
    wb "$command" --sandbox "$@" >out 2>told || confined=$?
    grep -v Landlock told >err || true
    [ $code = $confined ] || { echo "$command $*: $code, in the sandbox $confined"; cat told; exit 1; }
    cmp plain.out out
    cmp plain.err err
}
repository=hub/models--o--n
mkdir -p $repository/snapshots/r1 $repository/blobs store
for file in "$DATA"/models/gemma3-4bit/*; do
    cp "$file" "$repository/blobs/${file##*/}.etag"
    ln -s "../../blobs/${file##*/}.etag" "$repository/snapshots/r1/${file##*/}"
done
for path in $repository/snapshots/r1 $repository/snapshots/r1/model.safetensors 'hub/*/snapshots/r1/*.safetensors' \
    none "$DATA/models/gemma3-4bit/model.safetensors"; do
    same inspect "$path"
    same verify "$path"
done
(cd $repository/snapshots/r1 && for path in . model.safetensors; do wb inspect --sandbox $path >../out && wb inspect $path | cmp - ../out; done)
# Names of folders that occur twice in the path, and a repository whose blobs are shared with others
mkdir -p snapshots manifests/in
mv hub snapshots/
cp -r "$DATA/listings/store" manifests/in/
repository=snapshots/$repository
same inspect $repository/snapshots/r1
find manifests/in/store/manifests -type f | LC_ALL=C sort | while read -r path; do
    same inspect "$path"
done
mkdir -p $repository/../blobs/shared
for file in $repository/blobs/*; do
    mv "$file" $repository/../blobs/shared/
    ln -s "../../blobs/shared/${file##*/}" "$file"
done
mkdir -p $repository/refs
printf r1 >$repository/refs/main
same inspect $repository/snapshots/r1
same inspect $repository
same list --store "$DATA/listings/store"
same diff $repository/snapshots/r1 "$DATA/models/gemma3-4bit"
# A link to another file is not readable, even if the library followed it.
cp -r "$DATA/models/gemma3-4bit" linked
mv linked/config.json kept.json
ln -s "$PWD/kept.json" linked/config.json
wb inspect --sandbox linked >out 2>&1 || true
grep -q 'link-outside' out || { cat out; exit 1; }
same inspect --follow-links linked
# Commands that write fail.
code=0
wb hash --sandbox --manifest made.json "$DATA/models/gemma3-4bit" >/dev/null 2>err || code=$?
[ $code = 5 ] && [ ! -e made.json ] || { cat err; exit 1; }
