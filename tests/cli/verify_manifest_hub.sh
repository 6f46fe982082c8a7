# A manifest finds damage in a repository of a Hugging Face cache, also if the model cannot be opened.
python3 -B - "$SOURCE/demo/tiny-pycode" <<'P'
import hashlib, os, sys
root = "models--o--n"
for name in "blobs", "refs", "snapshots/abc123":
    os.makedirs(f"{root}/{name}")
open(f"{root}/refs/main", "w").write("abc123")
for name in os.listdir(sys.argv[1]):
    data = open(f"{sys.argv[1]}/{name}", "rb").read()
    digest = hashlib.sha256(data).hexdigest()
    open(f"{root}/blobs/{digest}", "wb").write(data)
    os.symlink(f"../../blobs/{digest}", f"{root}/snapshots/abc123/{name}")
P
file=models--o--n/snapshots/abc123/model.safetensors
blob=$(readlink -f $file)
cp "$blob" saved
wb hash --manifest manifest models--o--n
check() { # the expected exit code, the file and a pattern of the finding, for each path of the model
    for path in models--o--n models--o--n/snapshots/abc123 $file; do
        code=0
        wb verify --manifest manifest $path >out 2>&1 || code=$?
        [ $code = "$1" ] && grep -q "$2" out || { echo "$path: $code, not $1: $2"; cat out; exit 1; }
        if grep 'models--o--n/model.safetensors' out; then exit 1; fi
    done
}
check 0 ': sound ('
printf X | dd of="$blob" bs=1 seek=200000 conv=notrunc 2>/dev/null
check 2 "error: $file: at byte 4176: .*bytes 4176 to 528463 differ from the manifest"
truncate -s 300000 "$blob"
check 2 "error: $file: .*manifest-length"
printf garbage | dd of="$blob" bs=1 conv=notrunc 2>/dev/null
check 2 "error: $file: .*bytes 0 to .*manifest-damage"
# The blob is missing, so the link leads nowhere; the advice says what to do.
rm "$blob"
code=0
wb verify models--o--n >out || code=$?
[ $code = 2 ] && grep -q "fatal: $file: the symbolic link leads to a file that does not exist .link-broken." out || exit 1
grep -q 'fetch the model again' out
code=0
wb inspect $file 2>out || code=$?
[ $code = 5 ] && grep -q "$file: the symbolic link leads to" out || exit 1
wb verify --manifest manifest models--o--n >out || code=$?
grep -q "error: $file: \"model.safetensors\": the manifest lists this file, but it does not exist" out
