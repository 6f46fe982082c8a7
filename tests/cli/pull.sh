# wb pull: the layout of the cache of huggingface_hub and of a plain folder, few requests, what is there is not
# fetched again, patterns, and files of the user that stay.
. "$SOURCE/tests/net/servers.sh"
has_network || exit 77
mkdir -p hub/o
cp -r "$DATA/models/qwen3-4bit-3shards" hub/o/m
mkdir -p hub/o/m/sub/deep
echo text >hub/o/m/sub/deep/note.txt
: >hub/o/m/empty
cp hub/o/m/model-00001-of-00003.safetensors hub/o/m/sub/same.safetensors
start_hub hub --lfs-min 20000
repo=hf-home/hub/models--o--m
commit=$(control /api/models/o/m/revision/main | sed 's/.*"sha": *"\([0-9a-f]*\)".*/\1/')

wb pull hf://o/m --dry-run >out
grep -q 'sub/deep/note.txt.*would be fetched' out
[ ! -e hf-home ] || { find hf-home; exit 1; }

rules '[]'
wb pull hf://o/m >out
[ "$(cat out)" = "$PWD/$repo/snapshots/$commit" ]
diff -r "$repo/snapshots/$commit" hub/o/m
[ "$(cat "$repo/refs/main")" = "$commit" ]
[ "$(readlink "$repo/snapshots/$commit/sub/deep/note.txt")" = "../../../../blobs/$(basename "$(readlink -f "$repo/snapshots/$commit/sub/deep/note.txt")")" ]
[ -s "$repo/trees/$commit.json" ]
[ -s hf-home/hub/CACHEDIR.TAG ]
for blob in "$repo"/blobs/*; do
    case $(basename "$blob") in
    ????????????????????????????????????????????????????????????????) [ "$(sha256sum <"$blob")" = "$(basename "$blob")  -" ] ;;
    *) [ "$(basename "$blob" | wc -c)" = 41 ] ;;
    esac
done
# The commit, the listing, and two requests for each of 8 files but the empty one and the one with the same contents.
[ "$(hub_log | wc -l)" -le 16 ] || { hub_log; exit 1; }
[ "$(hub_log | grep -c HEAD)" = 0 ]

# Nothing is fetched again; a directory without write permission is enough; a commit needs no request at all.
rules '[]'
wb pull hf://o/m --json >out
grep -q '"fetched":0' out
[ "$(hub_log | wc -l)" = 1 ]
wb pull "hf://o/m@$commit" >out
[ "$(hub_log | wc -l)" = 1 ]
HF_HUB_OFFLINE=1 wb pull hf://o/m >out
[ "$(hub_log | wc -l)" = 1 ]
wb pull hf://o/m --force --include '*.txt' >out
hub_log | grep -q note.txt
rm "$repo/blobs/$(basename "$(readlink "$repo/snapshots/$commit/config.json")")"
wb pull "$HUB/o/m/resolve/main/config.json" --json >out
grep -q '"fetched":734' out
cmp hub/o/m/config.json "$repo/snapshots/$commit/config.json"

# A blob may be a link into the store that newer versions of huggingface_hub share between repositories. It stays.
blob=$repo/blobs/$(basename "$(readlink "$repo/snapshots/$commit/model-00001-of-00003.safetensors")")
mkdir -p hf-home/hub/blobs/ab
mv "$blob" hf-home/hub/blobs/ab/shared
ln -s ../../blobs/ab/shared "$blob"
wb pull hf://o/m --json >out
grep -q '"fetched":0' out
[ -h "$blob" ]
[ "$(ls hf-home/hub/blobs)" = ab ]

# A plain folder
rules '[]'
wb pull hf://o/m --to d --include '*.json' --exclude config.json >out
[ "$(cat out)" = d ]
[ -e d/model.safetensors.index.json ]
[ ! -e d/config.json ]
echo mine >d/config.json
code=0
wb pull hf://o/m --to d >out 2>err || code=$?
[ $code = 4 ]
grep -q 'config.json' err
[ "$(cat d/config.json)" = mine ]
wb pull hf://o/m --to d --force >out
diff -r -x .cache d hub/o/m
[ "$(sed -n 1p d/.cache/huggingface/download/sub/deep/note.txt.metadata)" = "$commit" ]
[ -s "d/.cache/huggingface/trees/$commit.json" ]
find d hf-home -name '*.wb-*' | grep . && exit 1
# Equal files without metadata are adopted.
rules '[]'
rm -r d/.cache
wb pull hf://o/m --to d --json >out
grep -q '"fetched":0' out
[ "$(hub_log | wc -l)" -le 2 ]

# A new version replaces the files of the old one, but not those that the user changed.
echo newer >hub/o/m/sub/deep/note.txt
control /_touch '{"repo": "o/m"}' >/dev/null
wb pull hf://o/m --to d --json >out
grep -q '"fetched":6' out
cmp hub/o/m/sub/deep/note.txt d/sub/deep/note.txt

fails() { # CODE ARGUMENT...
    want=$1 code=0
    shift
    wb pull "$@" >out 2>err || code=$?
    [ $code = "$want" ] || { echo "$*: $code"; cat err; exit 1; }
}
fails 4 m.safetensors
fails 4 https://example.org/m.safetensors --include x
fails 4 hf://o/m --quant Q4_0
fails 5 hf://o/m --include '*.nothing'
fails 5 hf://o/none
fails 5 hf://o/m@none
HF_HUB_OFFLINE=1 HF_HOME=$PWD/other fails 5 hf://o/m
