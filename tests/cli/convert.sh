# Conversion to the same format: models are split, merged and split again, byte for byte. Also the rules for output
# paths.
python3 -B "$SOURCE/tests/cli/zoo.py"
models=$DATA/models

# If the input is a file and not a folder, only the sidecar files from which the model is read are copied.
cp -r "$models/llama-tied-float16-4bit" from
echo notes >from/notes.txt
wb convert from/model.safetensors to --to safetensors
diff from/config.json to/config.json
[ ! -e to/notes.txt ]
(cd from && wb convert model.safetensors ../here --to safetensors)
diff -r to here
rm -r from to here

# A sharded MLX folder is converted to one file, to shards, and back.
wb convert "$models/qwen3-4bit-3shards" one --to safetensors
[ -e one/config.json ] && [ -e one/model.safetensors ] || exit 1
[ ! -e one/model.safetensors.index.json ]
wb verify -q one
wb convert one many --to safetensors --max-shard-size 50KB
wb verify -q many
[ "$(ls many/*.safetensors | wc -l)" -gt 3 ]
wb convert many back --to safetensors
diff -r one back
wb convert back again --to safetensors --max-shard-size 50KB
diff -r many again
wb convert many/model-00002-of-*.safetensors file.safetensors --to safetensors
cmp one/model.safetensors file.safetensors
# The values are unchanged.
wb export "$models/qwen3-4bit-3shards" model.layers.0.self_attn.q_proj.weight --dtype f32 -o a.raw
wb export many model.layers.0.self_attn.q_proj.weight --dtype f32 -o b.raw
cmp a.raw b.raw

# Padding tensors are ignored by verify, by indices and by other formats, and are generated again.
wb convert "$models/llama-tied-float16-4bit" aligned --to safetensors --align-tensors --alignment 4096 --max-shard-tensors 5
wb inspect aligned | grep -q __padding__
wb verify aligned | grep -q '^aligned: sound'
wb convert aligned plain --to safetensors
wb convert "$models/llama-tied-float16-4bit" whole --to safetensors
diff -r plain whole
mkdir called
mv aligned called/model
wb convert called/model a.gguf --quant f16
rm -r called/model
mv whole called/model
wb convert called/model b.gguf --quant f16
cmp a.gguf b.gguf
wb realign plain/model.safetensors --alignment 64 --align-tensors
wb realign plain/model.safetensors --alignment 4096 --align-tensors
wb verify -q plain
# The name of a padding tensor ends with a number; a tensor with another name is a normal tensor.
PYTHONPATH=$SOURCE/tests/cli python3 -B -c '
import zoo
zoo.save("padded.safetensors", [("__padding__.%s" % n, "U8", [3], b"abc") for n in ("3", "mine", "3x", "", "12")]
         + [("__padding__.4", "I8", [3], b"abc"), ("t", "F32", [1], b"1234")])'
wb convert padded.safetensors unpadded.safetensors
wb inspect unpadded.safetensors --json | python3 -B -c '
import json, sys
names = sorted(t["name"] for t in json.load(sys.stdin)["tensors"])
assert names == sorted(["__padding__.mine", "__padding__.3x", "__padding__.", "__padding__.4", "t"]), names'

# To standard output, and from standard input.
wb convert one - --to safetensors >out.safetensors
cmp one/model.safetensors out.safetensors
wb convert - piped.safetensors --to safetensors <out.safetensors
cmp out.safetensors piped.safetensors

# A file that is replaced keeps its permissions; a symbolic link stays a link.
echo old >old.safetensors
chmod 640 old.safetensors
ln -s old.safetensors link.safetensors
wb convert one link.safetensors --to safetensors --force
[ -L link.safetensors ] && cmp old.safetensors out.safetensors || exit 1
[ "$(stat -c %a old.safetensors)" = 640 ]

# Outputs that are refused.
code() {
    want=$1
    shift
    result=0
    wb "$@" 2>message || result=$?
    [ "$result" -eq "$want" ] || { echo "$* ended with $result"; cat message; exit 1; }
}
before=$(find . -type f ! -name message | sort | xargs cksum | cksum)
code 4 convert one many --to safetensors
grep -q 'exists' message
code 4 convert many many --to safetensors --force
grep -q 'never overwritten' message
code 4 convert one/model.safetensors one/model.safetensors --to safetensors
ln one/model.safetensors hard.safetensors
code 4 convert one hard.safetensors --to safetensors
rm hard.safetensors
mkdir -p keep/config.json
code 4 convert one keep --to safetensors --force
rmdir keep/config.json keep
code 4 convert one out.safetensors --to safetensors --alignment 24
code 4 convert one out.safetensors --to safetensors --max-shard-size 5X
code 4 convert one out
code 4 convert one out.gguf --quant affine4:64
code 2 convert one/config.json out.safetensors --to safetensors
code 5 convert one nowhere/out.safetensors --to safetensors
[ "$before" = "$(find . -type f ! -name message | sort | xargs cksum | cksum)" ]

# A folder is replaced completely.
wb convert one again --to safetensors --force
diff -r one again

# The report of the dry run equals that of the run.
wb convert one dry --to safetensors --max-shard-size 50KB --dry-run >plan
[ ! -e dry ]
wb convert one dry --to safetensors --max-shard-size 50KB --json >answer
python3 -B - <<'P'
import json, os
lines = open("plan").read().splitlines()
answer = json.load(open("answer"))
assert [line.split("  ")[0] for line in lines] == [f["path"] for f in answer["files"]]
for f in answer["files"]:
    assert os.path.getsize(f["path"]) == f["bytes"]
assert answer["bytes"] == sum(f["bytes"] for f in answer["files"])
P
[ -z "$(ls -A | grep '^\.wb')" ]

# A file size limit gives an error and no signal, and the existing file is unchanged.
before=$(find . -type f ! -name message | sort | xargs cksum | cksum)
for to in old.safetensors limited; do
    result=0
    (ulimit -f 8 && wb convert one $to --to safetensors --max-shard-size 1G --force) 2>message || result=$?
    [ "$result" -eq 5 ] || { echo "$to ended with $result"; cat message; exit 1; }
done
[ "$before" = "$(find . -type f ! -name message | sort | xargs cksum | cksum)" ]
[ -z "$(ls -A | grep '^\.wb')" ]
