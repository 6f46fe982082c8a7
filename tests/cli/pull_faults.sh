# wb pull: with every fault that a hub, its content server or a proxy can have, the result is either the right bytes, or
# a refusal after which no file has its final name. The token goes to the hub only.
. "$SOURCE/tests/net/servers.sh"
has_network || exit 77
mkdir -p hub/o/m
python3 -c 'import random; random.seed(1); open("hub/o/m/a.bin", "wb").write(random.randbytes(3000000))
open("hub/o/m/b.txt", "wb").write(b"text" * 500)'
start_hub hub --lfs-min 20000
HF_TOKEN=hf_good HF_HUB_DOWNLOAD_TIMEOUT=2
export HF_TOKEN HF_HUB_DOWNLOAD_TIMEOUT

try() { # CODE TEXT RULES: an exit code, and a text in the messages; from an empty cache, with $both also into a folder
    for to in '' $both; do
        rules "$3"
        rm -rf hf-home d
        code=0
        wb pull hf://o/m --retries 2 $to >out 2>err || code=$?
        [ $code = "$1" ] && { [ -z "$2" ] || grep -q "$2" err; } || { echo "$3: $code"; cat out err; hub_log; exit 1; }
        if [ $code = 0 ]; then
            got=d
            [ -n "$to" ] || got=$(cat out)
            diff -r -x .cache "$got" hub/o/m
        else
            rules '[]' # what is stored under a final name is right, and the next run completes it
            for file in $(find hf-home d \( -path '*/snapshots/*' -o -path 'd/[ab]*' \) ! -type d 2>/dev/null); do
                cmp "$file" "hub/o/m/$(basename "$file")"
            done
            [ ! -e hf-home/hub/models--o--m/refs/main ] || { echo "a ref to an incomplete snapshot"; exit 1; }
            wb pull hf://o/m $to >out
        fi
    done
}
both=
try 0 '' '[]'
try 0 '' '[{"where":"cdn","fault":"cut","after":3000,"times":3}]'
try 0 '' '[{"where":"cdn","fault":"reset","after":300000,"times":2}]'
try 0 '' '[{"where":"cdn","fault":"stall","after":1000,"seconds":6,"times":1}]'
try 0 '' '[{"where":"any","fault":"status","code":503,"times":2}]'
try 0 '' '[{"where":"any","fault":"status","code":429,"retry_after":1,"times":1}]'
try 0 '' '[{"where":"cdn","fault":"short"}]'
try 0 '' '[{"where":"cdn","fault":"norange"}]'
try 0 '' '[{"where":"cdn","fault":"norange"},{"where":"cdn","fault":"cut","after":2000000,"times":2}]'
try 0 '' '[{"where":"cdn","fault":"chunked"}]'
try 0 '' '[{"where":"any","fault":"nohead"}]'
try 0 '' '[{"where":"cdn","fault":"status","code":403,"times":1}]'
try 0 '' '[{"where":"cdn","fault":"shift","by":16,"times":1}]'
both=--to=d
try 0 'once more' '[{"where":"cdn","fault":"corrupt","at":1500000,"n":4,"bodies":1}]'
try 2 'digest' '[{"where":"cdn","fault":"corrupt","at":1500000,"n":4}]'
try 2 'digest' '[{"where":"hub","path":"b.txt","fault":"corrupt","at":7,"n":1}]'
try 2 '' '[{"where":"hub","path":"resolve","fault":"etag","value":"\"'$(printf %064d 0)'\""}]'
try 2 '' '[{"where":"any","path":"tree|resolve","fault":"size","delta":-5}]'
both=
try 5 'compressed' '[{"where":"cdn","fault":"gzip"}]'
try 5 '' '[{"where":"any","fault":"loop"}]'
try 5 'redirect' '[{"where":"hub","path":"resolve","fault":"away","to":"http://example.org/x"}]'
try 5 '' '[{"where":"cdn","fault":"status","code":503}]'
try 5 'web page' '[{"where":"hub","path":"resolve","fault":"html"}]'
try 5 'web page' '[{"where":"cdn","fault":"html"}]'

# A signed address that expires during the download
control /_set '{"ttl": 0.7}' >/dev/null
try 0 '' '[{"where":"cdn","fault":"slow","rate":1500000},{"where":"cdn","fault":"cut","after":1200000,"times":2}]'
control /_set '{"ttl": 3600}' >/dev/null
control /_log | python3 -c '
import json, sys
leaks = [e for e in json.load(sys.stdin) if e["where"] != "hub" and e["auth"]]
assert not leaks, leaks'

# Names that lead outside, and links that somebody placed in the cache or in the folder
rm -rf hf-home d
rules '[]'
for name in ../evil /evil a/../../evil .git/hooks/x 'a\\..\\evil' b.txt/x; do
    printf '{"extra": ["%s"]}' "$name" >hub/o/m/.hub.json
    control /_touch '{"repo": "o/m"}' >/dev/null
    code=0
    wb pull hf://o/m --to d >out 2>err || code=$?
    [ $code = 2 ] && [ ! -e d ] && [ ! -e evil ] || { echo "$name: $code"; cat err; exit 1; }
done
rm hub/o/m/.hub.json
mkdir -p hub/o/m/sub outside d hf-home/hub/models--o--m
mv hub/o/m/b.txt hub/o/m/sub/b.txt
control /_touch '{"repo": "o/m"}' >/dev/null
ln -s ../outside d/sub
ln -s "$PWD/outside" hf-home/hub/models--o--m/blobs
for to in '' '--to d'; do
    code=0
    wb pull hf://o/m $to >out 2>err || code=$?
    [ $code = 5 ] && [ -z "$(ls outside)" ] || { echo "$to: $code"; cat err; ls outside; exit 1; }
done
