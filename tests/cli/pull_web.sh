# wb pull of one file from a web server (nginx) and from an object store: ranges, resuming after a kill, a file that is
# there already, a changed file, a known digest, repairs, and addresses that are refused.
. "$SOURCE/tests/net/servers.sh"
has_network || exit 77
mkdir -p web bucket/public
python3 -c 'import random; random.seed(5); open("web/a.gguf", "wb").write(random.randbytes(24 * 2**20 + 99))'
cp web/a.gguf bucket/public/a.gguf
echo 'one word' >'web/b c.txt'
: >web/empty
start_nginx web
digest=$(sha256sum <web/a.gguf | cut -c1-64)

fails() { # CODE TEXT ARGUMENT...
    want=$1 text=$2 code=0
    shift 2
    wb pull "$@" >out 2>err || code=$?
    [ $code = "$want" ] && grep -q "$text" err || { echo "$*: $code"; cat err; exit 1; }
}
bytes() { # the number of bytes that nginx has sent since the last call
    sleep 0.1
    awk '{ n += $NF } END { print n + 0 }' nginx/logs/access.log
    : >nginx/logs/access.log
}

wb pull "$WEB/a.gguf" --dry-run >out
grep -q 'a.gguf.*would be fetched' out
[ ! -e a.gguf ]
bytes >/dev/null
wb pull "$WEB/a.gguf" >out
[ "$(cat out)" = a.gguf ]
cmp a.gguf web/a.gguf
[ "$(bytes)" -le 25166300 ]
if find . -name '*.wb-*' | grep .; then exit 1; fi
wb pull "$WEB/a.gguf" --json >out # compared with the journal of the download
grep -q '"fetched":0,' out
if grep -q commit out; then exit 1; fi
[ "$(bytes)" -le 4 ]

# --to: a folder, a new folder, a path
mkdir d
wb pull "$WEB/b%20c.txt" --to d >out
[ "$(cat out)" = 'd/b c.txt' ]
cmp 'd/b c.txt' 'web/b c.txt'
wb pull "$WEB/empty" --to new/sub/ >out
[ "$(cat out)" = new/sub/empty ]
[ -e new/sub/empty ]
[ ! -s new/sub/empty ]
wb pull "$WEB/a.gguf" --to other/name.gguf --sha256 "$digest" --json >out
grep -q '"path":"other/name.gguf"' out
grep -q "$digest" out
cmp other/name.gguf web/a.gguf

# Other files are not replaced, and wrong digests are refused.
echo mine >d/a.gguf
fails 4 'other file\|another file' "$WEB/a.gguf" --to d
[ "$(cat d/a.gguf)" = mine ]
wb pull "$WEB/a.gguf" --to d --force >out
cmp d/a.gguf web/a.gguf
wrong=$(printf %064d 0)
fails 2 'digest' "$WEB/a.gguf" --to wrong/ --sha256 "$wrong"
if find wrong -type f | grep -v wb-lock; then exit 1; fi
fails 4 '64 hexadecimal' "$WEB/a.gguf" --to wrong --sha256 12
fails 4 'folder' "$WEB/"
fails 4 'folder' s3://public/
fails 4 'patterns' "$WEB/a.gguf" --include '*.gguf'
fails 4 'hub' hf://o/m --sha256 "$digest"
fails 4 'no known scheme' a.gguf
fails 4 'name of a file' "$WEB/a%2Fb"
fails 5 'nothing at this address' "$WEB/none"

# Damage is found, and only the damaged piece is fetched.
flip() {
    python3 - "$@" <<'P'
import sys
with open(sys.argv[1], "r+b") as f:
    f.seek(int(sys.argv[2]))
    byte = f.read(1)[0]
    f.seek(int(sys.argv[2]))
    f.write(bytes([byte ^ 1]))
P
}
bytes >/dev/null
flip a.gguf 7000000
fails 4 'file' "$WEB/a.gguf"
wb pull "$WEB/a.gguf" --repair >out
cmp a.gguf web/a.gguf
[ "$(bytes)" -le 1048600 ]

# A killed download continues. If the file on the server changed, it starts again.
speed() { # BYTES: per second and connection; 0: no limit
    sed -i "s/sendfile on;.*keepalive/sendfile on; limit_rate $1; keepalive/" nginx/nginx.conf
    kill -HUP "$(cat nginx/nginx.pid)"
    sleep 1
}
kill_half() {
    speed 600000
    wb pull "$WEB/a.gguf" --to k.gguf >out 2>err &
    pid=$!
    i=0
    while [ ! -e k.gguf.wb-pieces ] || [ "$(wc -c <k.gguf.wb-pieces)" -lt $((96 + 24 * 8)) ]; do
        i=$((i + 1))
        [ $i -lt 400 ] || { echo "no pieces arrive"; cat err; exit 1; }
        sleep 0.05
    done
    kill -9 $pid
    wait $pid || true
    [ ! -e k.gguf ]
    speed 0
}
bytes >/dev/null
kill_half
wb pull "$WEB/a.gguf" --to k.gguf >out
cmp k.gguf web/a.gguf
[ "$(bytes)" -le $((25165923 + 5 * 1048576)) ]
if find . -name 'k.gguf.wb-*' | grep .; then exit 1; fi
rm k.gguf
kill_half
flip web/a.gguf 500
touch -d '2001-01-01' web/a.gguf
wb pull "$WEB/a.gguf" --to k.gguf >out
cmp k.gguf web/a.gguf

# An object store
start_s3 bucket
AWS_REGION=test-1
export AWS_REGION
wb pull s3://public/a.gguf --to s3.gguf --sha256 "$digest" >out
cmp s3.gguf bucket/public/a.gguf

# The page of a login is not a model.
mkdir -p hub/o/m
start_hub hub
rules '[{"where":"cdn","fault":"html"}]'
fails 5 'web page' "$CDN/x.gguf" --to page
[ ! -e page ]
