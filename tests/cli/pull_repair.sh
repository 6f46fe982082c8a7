# wb pull --repair: damaged bytes are found, and only the pieces of 1 MiB that contain them are fetched, if the journal of
# the download is still there; otherwise the whole file.
. "$SOURCE/tests/net/servers.sh"
has_network || exit 77
mkdir -p hub/o/m
python3 -c 'import random; random.seed(3); open("hub/o/m/a.safetensors", "wb").write(random.randbytes(40 * 2**20 + 777))'
echo text >hub/o/m/b.txt
start_hub hub
digest=$(sha256sum <hub/o/m/a.safetensors | cut -c1-64)
blob=hf-home/hub/models--o--m/blobs/$digest
kept=xdg-cache/weighbridge/pieces/$digest

flip() { # FILE OFFSET...: changes bytes
    python3 - "$@" <<'P'
import os, sys
stat = os.stat(sys.argv[1])
with open(sys.argv[1], "r+b") as f:
    for at in map(int, sys.argv[2:]):
        f.seek(at)
        byte = f.read(1)[0]
        f.seek(at)
        f.write(bytes([byte ^ 1]))
os.utime(sys.argv[1], ns=(stat.st_atime_ns, stat.st_mtime_ns))
P
}
fetched() { # the number of bytes that the content server has sent since the last call
    control /_log | python3 -c 'import json, sys; print(sum(e["sent"] for e in json.load(sys.stdin) if e["where"] == "cdn"))'
    rules '[]'
}

wb pull hf://o/m >out
[ -s "$kept" ]
[ "$(fetched)" -ge 41943040 ]
wb pull hf://o/m --repair --json >out
grep -q '"fetched":0,' out
[ "$(fetched)" = 0 ]

flip "$blob" 5000 20000000 41943050
wb pull hf://o/m --json >out # without --repair, the size is compared
grep -q '"fetched":0,' out
wb pull hf://o/m --repair --dry-run >out
grep -q 'a.safetensors.*would be fetched' out
grep -q 'b.txt.*is here' out
[ "$(fetched)" = 0 ]
wb pull hf://o/m --repair >out
cmp "$blob" hub/o/m/a.safetensors
[ "$(fetched)" = $((2 * 1048576 + 777)) ]
[ -z "$(find hf-home -name '*.wb-*')" ]

rm "$kept"
flip "$blob" 5000
wb pull hf://o/m --repair >out
cmp "$blob" hub/o/m/a.safetensors
[ "$(fetched)" -ge 41943040 ]
[ -s "$kept" ]

# A kept journal that is damaged costs bytes, but no correctness.
flip "$blob" 5000
flip "$kept" 200 500
wb pull hf://o/m --repair >out
cmp "$blob" hub/o/m/a.safetensors
[ "$(fetched)" -ge 1048576 ]

wb pull hf://o/m --to d >out
fetched >/dev/null
flip d/a.safetensors 7000000
flip d/b.txt 1
wb pull hf://o/m --to d --repair >out
diff -r -x .cache d hub/o/m
[ "$(fetched)" = 1048576 ]

# A damaged file of which the server has only wrong bytes stays as it is.
flip "$blob" 5000
cp "$blob" before
rules '[{"where":"cdn","fault":"corrupt","at":4000,"n":4}]'
code=0
wb pull hf://o/m --repair >out 2>err || code=$?
[ $code = 2 ]
cmp "$blob" before

# The server sends wrong bytes once. The pieces are fetched again only until one differs from the bytes of before.
start_again() { # RULES
    rm -rf hf-home "$kept"
    rules "$1"
}
start_again '[{"where":"cdn","fault":"corrupt","at":2500000,"n":4,"bodies":1}]'
wb pull hf://o/m >out 2>err
grep -q 'once more' err
cmp "$blob" hub/o/m/a.safetensors
n=$(fetched)
[ "$n" -gt 41943040 ] && [ "$n" -lt 52428800 ] || { echo "$n bytes"; exit 1; }

# Two wrong pieces: the search continues after the first one.
start_again '[{"where":"cdn","fault":"corrupt","at":2500000,"n":4,"bodies":1}]'
flip hub/o/m/a.safetensors 30000000
code=0 # the second wrong piece is on the server and stays wrong
wb pull hf://o/m >out 2>err || code=$?
[ $code = 2 ]
grep -q 'second time' err
[ "$(fetched)" -le $((2 * 41943817)) ]
flip hub/o/m/a.safetensors 30000000
[ ! -e "$blob" ]

# Bytes on the disk change while the file is fetched: only their piece is fetched again.
start_again '[{"where":"cdn","fault":"stall","after":1000,"seconds":3,"times":1}]'
wb pull hf://o/m >out 2>err &
pid=$!
i=0
while [ ! -e "$blob.wb-pieces" ] || [ "$(wc -c <"$blob.wb-pieces")" -lt $((96 + 24 * 20)) ]; do
    i=$((i + 1))
    [ $i -lt 200 ] || { echo "no pieces arrive"; exit 1; }
    sleep 0.05
done
flip "$blob.wb-partial" 20000000
wait $pid || { cat err; exit 1; }
grep -q '1 pieces' err
cmp "$blob" hub/o/m/a.safetensors
n=$(fetched)
[ "$n" -lt 44040192 ] || { echo "$n bytes"; exit 1; }

# The free space is checked before anything is fetched.
start_again '[{"where":"hub","fault":"size","delta":1000000000000000}]'
code=0
wb pull hf://o/m >out 2>err || code=$?
[ $code = 5 ] && grep -q 'are free' err || { echo $code; cat err; exit 1; }
[ "$(fetched)" = 0 ]
[ ! -e hf-home ]
