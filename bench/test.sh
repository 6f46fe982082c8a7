#!/bin/sh
# Tests that the benchmark programs work: test.sh FOLDER, the folder of the programs. No measured time decides.
set -eu
real_cases=$(cd "$(dirname "$0")" && pwd)/cases
tools=$(cd "$1" && pwd)
folder=$tools/test
PATH=$tools:$PATH
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"

# The case with fewer repetitions.
cases=$folder/cases
mkdir cases
sed 's/ 400 / 2 /' "$real_cases/open.safetensors.300" >cases/open.safetensors.300

fail() {
    echo "$*" >&2
    exit 1
}

# The headers are the ones of the published figures.
for want in "big 531514140744 11937864 1367977080" "small 16496781640 35144 1888704817"; do
    set -- $want
    headers "$1" "$1.safetensors"
    [ "$(wc -c <"$1.safetensors")" = "$2" ] || fail "$1: not $2 bytes"
    sum=$(head -c "$3" "$1.safetensors" | cksum)
    [ "$sum" = "$4 $3" ] || fail "$1: checksum $sum"
done

# A run of one case does not change a byte of the entries of other cases.
other='{"case": "other", "ours" : 1.50, "samples_ours":[1, 2]}'
stale='{"case":"open.safetensors.300","ours":-1}'
echo "[$stale, $other]" >results.json
driver -w -c "$cases" -n 1 -o results.json open.safetensors.300 >table
grep -q '^open.safetensors.300 ' table || fail "no line in the table"
grep -qF "$other" results.json || fail "the entry of another case changed"
[ "$(grep -c '"case"' results.json)" = 2 ] || fail "not one entry a case"
grep '"open.safetensors.300"' results.json >entry
grep -q '"ours":[0-9.e-]*,"peer":null,"ratio":null,"floor":[0-9]' entry || fail "no figures"
grep -q '"samples_ours":\[[0-9.e-]*\],"samples_peer":\[\]' entry || fail "not one sample"

# A peer that did different work is rejected.
mkdir -p peers/liar
sed 's/^peer: [^ ]*/peer: liar/' cases/open.safetensors.300 >cases/lie
printf '#!/bin/sh\nprintf "work 299 tensors\\nready\\n"; read line && echo 1\n' >peers/liar/run
chmod +x peers/liar/run
! driver -c "$cases" -p peers -n 1 lie >table 2>&1 || fail "a peer that did other work was taken"
grep -q 'the peer 299 tensors' table || fail "it is not told why"
! driver -w -c "$cases" -n 1 missing >table 2>&1 || fail "a missing case was taken"

# A file with '@' describes several cases. A case without a peer is recorded without one.
cat >cases/many.@ <<'CASE'
unit: us
each: Q8_0 MXFP4
prepare: tensor F32 2 two.f32 && tensor @ 2 @.blocks
ours: worker decode 1 @ @.blocks
floor: worker buffer 1 two.f32
CASE
driver -c "$cases" -p nowhere -n 1 -o many.json many.Q8_0 many.MXFP4 >table
[ "$(grep -c '^many' table)" = 2 ] || fail "not a line for each case of a file"
grep -q '"case":"many.MXFP4"' many.json || fail "a case without a peer is not recorded"
[ "$(wc -c <Q8_0.blocks)" = $((2 * 4096 / 32 * 34)) ] || fail "not the blocks of Q8_0"
! driver -c "$cases" -p nowhere -n 1 many.Q9_9 >table 2>&1 || fail "a type that is none was taken"

# Every operation runs.
tensor F32 16 16.f32
store 3 three
tokenizer pairs pairs
for line in 'list 1 three:3 models' 'manifests 1 three:3 models' 'encode 1 Q8_K 16.f32:65536 values' \
    'mlx-encode 1 nvfp4 16.f32:65536 values' 'read 1 pairs/tokenizer.json:20000036 bytes' \
    'tokens 1 pairs:358030 tokens' 'mlx-decode 1 affine1 16.f32:65536 values'; do
    echo run | worker ${line%:*} >lines || fail "failed: worker ${line%:*}"
    grep -q "^work ${line#*:}" lines || fail "other work than ${line#*:}: worker ${line%:*}"
done

# A case whose peer is missing is shown, but keeps its entry.
cp results.json before.json
driver -c "$cases" -p nowhere -n 1 -o results.json open.safetensors.300 >table 2>&1
grep -q 'is not installed' table || fail "a missing peer is not told"
cmp before.json results.json
