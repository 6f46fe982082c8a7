# Models on a hub: the same output as from the folder, few requests, and the right result or error with every fault
# that a hub, its content server or a proxy can have. The token goes to the hub only.
. "$SOURCE/tests/net/servers.sh"
has_network || exit 77
mkdir -p hub/o hub/secret
for model in qwen3-bf16 qwen3-4bit-3shards; do cp -r "$DATA/models/$model" "hub/o/$model"; done
cp -r hub/o/qwen3-bf16 hub/secret/m
echo '{"private": true, "tokens": ["hf_good"]}' >hub/secret/m/.hub.json
start_hub hub --lfs-min 20000

for model in qwen3-bf16 qwen3-4bit-3shards; do
    for command in "inspect --json" verify "hash --json" "verify --deep"; do
        wb $command "hub/o/$model" | sed "s|hub/o/$model|X|g" >local.txt
        wb $command "hf://o/$model" | sed "s|hf://o/$model|X|g" >remote.txt
        diff local.txt remote.txt
    done
done
wb convert hub/o/qwen3-bf16 a.gguf --to gguf >/dev/null
wb convert hf://o/qwen3-bf16 b.gguf --to gguf >/dev/null
cmp a.gguf b.gguf
wb inspect --json "$HUB/o/qwen3-bf16/blob/main/model.safetensors" | sed "s/\"path\":\"[^\"]*\"//g" >page.json
wb inspect --json hf://models/o/qwen3-bf16@main/model.safetensors | sed "s/\"path\":\"[^\"]*\"//g" >remote.json
cmp page.json remote.json

# requests: the commit, the listing, and one or two for each file
rules '[]'
wb inspect hf://o/qwen3-4bit-3shards >/dev/null
hub_log >log
[ "$(wc -l <log)" -le 14 ] || { cat log; exit 1; }

try() { # CODE TEXT RULES ADDRESS: an exit code, and a text in the output
    rules "$3"
    rm -f got.raw
    code=0
    HF_HUB_DOWNLOAD_TIMEOUT=2 wb export "$4" @0 --retries 2 --format raw -o got.raw >out 2>&1 || code=$?
    [ $code = "$1" ] && { [ -z "$2" ] || grep -q "$2" out; } || { echo "$3: $code"; cat out; hub_log; exit 1; }
    [ $code != 0 ] || cmp got.raw expected.raw
    rm -f got.raw
}
wb export hub/o/qwen3-bf16 @0 --format raw -o expected.raw >/dev/null
m=hf://o/qwen3-bf16
try 0 '' '[]' $m
try 0 '' '[{"where":"cdn","fault":"cut","after":3000,"times":2}]' $m
try 0 '' '[{"where":"cdn","fault":"reset","after":3000,"times":2}]' $m
try 0 '' '[{"where":"cdn","fault":"stall","after":1000,"seconds":6,"times":1}]' $m
try 0 '' '[{"where":"any","fault":"status","code":503,"times":2}]' $m
try 0 '' '[{"where":"any","fault":"status","code":429,"retry_after":1,"times":1}]' $m
try 0 '' '[{"where":"hub","fault":"status","code":429,"ratelimit":1,"times":1}]' $m
try 0 '' '[{"where":"cdn","fault":"short"}]' $m
try 0 '' '[{"where":"cdn","fault":"status","code":403,"times":1}]' $m
try 0 '' '[{"where":"cdn","fault":"shift","by":16,"times":1}]' $m
try 5 'compressed' '[{"where":"cdn","fault":"gzip"}]' $m
try 5 '' '[{"where":"any","fault":"loop"}]' $m
try 5 'redirect' '[{"where":"hub","path":"resolve","fault":"away","to":"http://example.org/x"}]' $m
try 5 '' '[{"where":"cdn","fault":"status","code":503}]' $m
try 5 'web page' '[{"where":"hub","fault":"html"}]' $m
try 5 'web page' '[{"where":"cdn","fault":"html"}]' $m
try 2 'X-Linked-Etag\|digest' '[{"where":"hub","path":"resolve","fault":"etag","value":"\"'$(printf %064d 0)'\""}]' $m
try 5 'no such repository' '[]' hf://o/none
try 5 'no such repository\|refuses' '[]' hf://secret/m
HF_TOKEN=hf_bad try 5 'HF_TOKEN' '[]' hf://secret/m
HF_TOKEN=hf_good
export HF_TOKEN
try 0 '' '[]' hf://secret/m
control /_log | python3 -c '
import json, sys
log = json.load(sys.stdin)
assert any(e["auth"] for e in log if e["where"] == "hub"), "the hub got no token"
leaks = [e for e in log if e["where"] != "hub" and e["auth"]]
assert not leaks, leaks
assert any(e["where"] == "cdn" for e in log)'
HF_HUB_OFFLINE=1 try 5 'HF_HUB_OFFLINE' '[]' $m
