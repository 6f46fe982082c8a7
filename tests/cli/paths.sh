# Several paths, quoted patterns, standard input. Further shards of a model that was already processed are skipped.
python3 -B "$SOURCE/tests/cli/zoo.py"
check() { # expected code, number of lines, arguments
    want=$1
    lines=$2
    shift 2
    code=0
    wb "$@" >out 2>err || code=$?
    [ $code = "$want" ] && [ "$(wc -l <out)" = "$lines" ] || {
        echo "wb $*: code $code, expected $want; $(wc -l <out) lines, expected $lines"
        cat out err
        exit 1
    }
}
check 0 1 verify --json 'set/*.safetensors'
check 0 1 verify --json set/model-00001-of-00002.safetensors set/model-00002-of-00002.safetensors
check 0 1 verify --json set set/model-00002-of-00002.safetensors
check 0 2 verify --json one.safetensors one.safetensors
check 1 2 inspect --json one.safetensors stray
check 2 3 inspect --json stray foreign/lfs.safetensors one.safetensors
check 5 4 verify --json stray foreign/lfs.safetensors nowhere one.safetensors
check 5 0 verify 'nothing*here'
grep -q 'nothing\*here: no file matches' err
check 2 2 verify --json 'set/*' # the index is no model, and the second shard was seen
# Commands for one model accept a pattern that matches one model or its files; the output is not a pattern.
check 0 0 convert 'o?e.safetensors' 'a*.safetensors'
[ -e 'a*.safetensors' ]
check 0 0 convert 'set/model-*.safetensors' whole.safetensors
check 0 1 diff --json --only values 'set/*-0000?-of-*' 'wh*.safetensors'
check 0 1 export 'o?e.safetensors' @0 --dry-run --json -o x.npy
check 0 0 get 'o?e.safetensors' byte -o x.bin
check 4 0 convert 'set/*' all.safetensors
grep -q 'set/\*: 3 paths match, but together they are not one model' err
[ ! -e all.safetensors ]
cp -r set cut
truncate -s -1 cut/model-00002-of-00002.safetensors
check 2 0 convert 'cut/model-*' all.safetensors # what is wrong with it, and not that it is no model
grep -q 'cut/model-00002-of-00002' err
check 5 0 edit 'nothing*here' --set a=1
grep -q 'nothing\*here: no file matches' err
check 0 2 edit 'wh?le.safetensors' --set a=1
[ "$(wb inspect --metadata a whole.safetensors)" = 1 ]
# Edits change one file, also of a model with several files, whether or not the first file opens.
cp -r set some
for args in 'edit some/model-* --set a=1' 'edit some/m* --set a=1 --dry-run' 'edit cut/model-* --set a=1' \
    'edit [os]* --set a=1' 'realign some/model-* --alignment 4096'; do
    set -f
    check 4 1 $args --json
    set +f
    grep -q 'paths match, but only one file can be changed; name one of them' err
    grep -q '"code":"command"' out
done
diff -r set some
check 0 1 realign 'some/*-00002-*' --alignment 4096 --json
grep -q '"path":"some/model-00002-of-00002.safetensors"' out
# A manifest describes one model, too.
mkdir two
cp one.safetensors two/a.safetensors
cp whole.safetensors two/b.safetensors
cp -r two before
for file in two/b.safetensors w.json; do
    check 4 1 hash 'two/*' --manifest $file --json
    grep -q 'two/\*: 2 paths match, but together they are not one model' err
    diff -r before two
    [ ! -e w.json ]
done
check 4 0 hash 'two/b*' --manifest two/b.safetensors
diff -r before two
check 0 1 hash 'set/model-*' --manifest w.json --json
check 0 1 verify 'set/model-*' --manifest w.json
check 4 0 verify 'two/*' --manifest w.json
# A file named '-' that a pattern matches is a file, not standard input.
mkdir dash
cp one.safetensors dash/-
(cd dash && check 0 1 inspect --json '[-]*' </dev/null && grep -q '"path":"./-"' out)
(cd dash && check 0 1 diff --json --only values '[-]*' ../one.safetensors </dev/null)
mkdir folder
cp one.safetensors 'folder/a[1].safetensors'
check 0 1 verify --json 'folder/a[1].safetensors' # a file before it is a pattern
ln -s ../one.safetensors folder/link.safetensors
check 0 1 verify --json folder/link.safetensors

check 0 1 inspect --json - <one.safetensors
grep -q '"path":"-"' out
cat one.safetensors | check 0 1 verify --json -
head -c 200 one.safetensors | check 2 1 verify --json -
check 2 1 verify --json - </dev/null
grep -q file-empty out
wb inspect - <one.safetensors | head -1 | grep -qx 'standard input'
check 5 0 verify --quiet - <&-
# A header longer than the limit, and with the limit raised.
check 2 1 verify --json --max-header 64 one.safetensors
check 0 1 verify --json --max-header 4K one.safetensors
# Files that violate the specification but are accepted by the official library.
python3 - <<'P'
text = b'{"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}'
open("twice.safetensors", "wb").write(len(text).to_bytes(8, "little") + text + b"x")
P
check 2 1 verify --json twice.safetensors
check 0 1 verify --json --compatible twice.safetensors
check 2 0 export twice.safetensors t --format raw -o -
check 0 0 export --compatible twice.safetensors t --format raw -o -
# A file size limit is an error, and so is a store path from an unset variable.
code=0
(ulimit -f 1 && wb inspect --json set >large 2>err) || code=$?
[ $code = 5 ] && grep -q 'File too large' err || exit 1
check 4 0 list --store ''
grep -q -- '--store needs a value' err
