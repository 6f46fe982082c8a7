# How many requests and bytes it takes to read headers and single tensors from a web server.
. "$SOURCE/tests/net/servers.sh"
has_network || exit 77
mkdir -p web/sharded web/set web/listed
header() { # FILE TENSORS: a header of about 60 bytes for each tensor of 1,024 bytes
    python3 - "$@" <<'P'
import json, struct, sys
n = int(sys.argv[2])
h = json.dumps({"t%06d" % i: {"dtype": "F32", "shape": [16, 16], "data_offsets": [1024 * i, 1024 * i + 1024]}
                for i in range(n)}).encode()
with open(sys.argv[1], "wb") as f:
    f.write(struct.pack("<Q", len(h)) + h + b"".join(struct.pack("<f", i % 7) * 256 for i in range(n)))
print(len(h) + 8)
P
}
start_nginx web
small=$(header web/small.safetensors 300)
large=$(header web/large.safetensors 20000)
expect() { # NAME REQUESTS BYTES: at most so many in the log, which is cleared
    web_log | awk -v name="$1" -v requests="$2" -v bytes="$3" '
        { n++; sum += $NF }
        END {
            printf "%s: %d requests, %d bytes\n", name, n, sum
            if (n < 1 || n > requests || sum > bytes) { print "expected", requests, bytes; exit 1 }
        }' || { web_log; exit 1; }
    : >nginx/logs/access.log
}
same() { # PATH ADDRESS: the same output; the log is then cleared of sidecar files that do not exist
    wb inspect --json "$1" | sed 's|web/|X/|g' >local.json
    wb inspect --json "$2" | sed "s|$WEB/|X/|g" >remote.json
    cmp local.json remote.json
    web_log | grep ' 404 ' >missing.log || true
    grep -v ' 404 ' nginx/logs/access.log >found.log || true
    cp found.log nginx/logs/access.log
}
same web/small.safetensors "$WEB/small.safetensors"
expect "header of $small bytes" 2 $((small * 3 / 2 + 131072))
same web/large.safetensors "$WEB/large.safetensors"
expect "header of $large bytes" 2 $((large * 3 / 2 + 131072))

# one tensor of 12 MB at the end of a large file
python3 - <<'P'
import json, struct
n, rows = 3_000_000, 8
h = json.dumps({"big": {"dtype": "F32", "shape": [n], "data_offsets": [100 * 4, (100 + n) * 4]},
                "first": {"dtype": "F32", "shape": [100], "data_offsets": [0, 400]},
                "last": {"dtype": "F32", "shape": [n], "data_offsets": [(100 + n) * 4, (100 + 2 * n) * 4]}}).encode()
with open("web/two.safetensors", "wb") as f:
    f.write(struct.pack("<Q", len(h)) + h)
    f.write(bytes(400))
    for part in range(2):
        f.write(b"".join(struct.pack("<I", i * 2654435761 + part & 0x3fffffff) for i in range(n)))
P
wb export web/two.safetensors big --format raw -o local.raw
wb export "$WEB/two.safetensors" big --format raw -o remote.raw
cmp local.raw remote.raw
grep -v ' 404 ' nginx/logs/access.log >found.log; cp found.log nginx/logs/access.log
expect "a tensor of 12,000,000 bytes" 40 $((12000000 * 105 / 100 + 131072))

# a vocabulary of 6 MB
gguf=$(python3 "$NET/make_gguf.py" web/vocab.gguf 145000)
[ "$gguf" -gt 6000000 ]
same web/vocab.gguf "$WEB/vocab.gguf"
expect "a GGUF header of $gguf bytes" 5 $((gguf * 3 / 2))

# 40 shards with an index
python3 - <<'P'
import json, struct
names = {}
for i in range(1, 41):
    name = "model-%05d-of-00040.safetensors" % i
    h = json.dumps({"t%02d.%d" % (i, k): {"dtype": "U8", "shape": [1000], "data_offsets": [1000 * k, 1000 * k + 1000]}
                    for k in range(700)}).encode()
    with open("web/sharded/" + name, "wb") as f:
        f.write(struct.pack("<Q", len(h)) + h + bytes(700000))
    names.update({"t%02d.%d" % (i, k): name for k in range(700)})
with open("web/sharded/model.safetensors.index.json", "w") as f:
    json.dump({"metadata": {"total_size": 40 * 700000}, "weight_map": names}, f)
P
for address in "$WEB/sharded/" "$WEB/sharded" "$WEB/sharded/model-00007-of-00040.safetensors"; do
    : >nginx/logs/access.log
    same "web${address#"$WEB"}" "$address"
    grep '/model-000' nginx/logs/access.log >shards.log
    cp shards.log nginx/logs/access.log
    expect "40 shards" 80 $((40 * 200000))
done

# A split GGUF model on a server that lists nothing; a folder that nginx lists.
cp "$DATA"/models/qwen3-bf16/* web/listed
wb convert web/listed web/set/m.gguf --to gguf --max-shard-size 100K >/dev/null
part=$(ls web/set | head -n 1)
same "web/set/$part" "$WEB/set/$part"
rm -f web/listed/model.safetensors.index.json
same web/listed/ "$WEB/listed/"
code=0
wb inspect "$WEB/set/" >/dev/null 2>err || code=$?
[ $code = 5 ]
grep -q 'does not list its folders' err

# errors
code=0
wb inspect "$WEB/none.gguf" >/dev/null 2>err || code=$?
[ $code = 5 ]
grep -q 'status 404' err
code=0
wb inspect "http://127.0.0.1:$(free_port)/x.gguf" >/dev/null 2>err || code=$?
cat err
[ $code = 5 ]
grep -q 'no connection' err
code=0
wb inspect "http://example.org/x.gguf" >/dev/null 2>err || code=$?
[ $code = 4 ]
grep -q 'http without encryption' err
code=0
wb inspect --sandbox "$WEB/small.safetensors" >/dev/null 2>err || code=$?
[ $code = 4 ]
