# wb push: a dry run sends nothing; files are sent once, large ones by LFS in one or several parts; nothing is sent again;
# failures, kills and the token.
. "$SOURCE/tests/net/servers.sh"
has_network || exit 77
mkdir -p hub/o/m model/sub/deep model/.git model/.cache
python3 - <<'P'
import random
random.seed(9)
open("model/a.safetensors", "wb").write(random.randbytes(3 * 2**20 + 5))
open("model/sub/b.gguf", "wb").write(random.randbytes(9 * 2**20 + 1))
open("model/config.json", "w").write('{"text": "\u00e9\\"x"}\n' * 300)
open("model/sub/deep/note.txt", "wb").write(b"a")
open("model/empty", "wb")
P
cp model/sub/b.gguf model/sub/twin.gguf # the same contents are sent once
echo secret >model/.git/config
echo old >model/x.wb-partial
echo kept >hub/o/m/README.md
start_hub hub --lfs-min 2000000
HF_TOKEN=hf_good
export HF_TOKEN

received() {
    control /_received
}
puts() { # the number of PUT requests
    hub_log | grep -c ' PUT ' || true
}
fails() { # CODE TEXT ARGUMENT...
    want=$1 text=$2 code=0
    shift 2
    wb push "$@" >out 2>err || code=$?
    [ $code = "$want" ] || { echo "$*: $code"; cat err; exit 1; }
    grep -q "$text" err || { echo "$*: no '$text'"; cat err; exit 1; }
}
same() { # FOLDER: the repository has these files
    for file in $(cd "$1" && find . -type f ! -path './.git/*' ! -name '*.wb-*'); do
        cmp "$1/$file" "hub/o/m/$2$file"
    done
}

wb push hf://o/m model --dry-run >out
grep -q 'sub/b.gguf.*would be sent' out
if grep -q 'git\|wb-partial' out; then exit 1; fi
[ "$(received)" = 0 ]

rules '[]'
wb push hf://o/m model -m "Add a model
more text" --json >out
same model ''
cmp hub/o/m/README.md - <<P
kept
P
[ ! -e hub/o/m/.git ]
[ "$(puts)" = 2 ]
commit=$(control /api/models/o/m/revision/main | sed 's/.*"sha": *"\([0-9a-f]*\)".*/\1/')
grep -q "\"commit\":\"$commit\"" out
control /_log | python3 -c '
import json, sys
log = json.load(sys.stdin)
assert all(e["auth"] == "Bearer hf_good" for e in log if e["where"] == "hub" and e["method"] == "POST")
assert not [e for e in log if e["where"] == "cdn" and e["auth"]]'

# Nothing is sent twice, and no commit is made.
rules '[]'
wb push hf://o/m model >out
[ "$(cat out)" = "$commit" ]
[ "$(received)" = 0 ]
wb push hf://o/m model --dry-run >out
if grep -q 'would be' out; then cat out; exit 1; fi

rm model/sub/twin.gguf

# One file changes; a folder in the repository; contents that the hub has under another name
rules '[]'
echo new >>model/config.json
cp model/sub/b.gguf model/c.gguf
wb push hf://o/m/sub/ model/c.gguf model/config.json >out
cmp model/c.gguf hub/o/m/sub/c.gguf
cmp model/config.json hub/o/m/sub/config.json
[ "$(puts)" = 0 ]
rm model/c.gguf

# Several parts, temporary failures, and addresses that expire
control /_set '{"part_bytes": 2000000}' >/dev/null
try() { # RULES: sends other contents with these faults
    rules "$1"
    python3 -c 'import os; open("model/a.safetensors", "r+b").write(os.urandom(16)); open("model/sub/b.gguf", "r+b").write(os.urandom(16))'
    wb push hf://o/m model >out 2>err || { cat err; hub_log; exit 1; }
    same model ''
}
try '[]'
[ "$(puts)" = 7 ]
try '[{"where":"cdn","method":"PUT","fault":"status","code":503,"times":3}]'
try '[{"where":"cdn","method":"PUT","fault":"cut","after":100000,"times":3}]'
try '[{"where":"cdn","method":"PUT","fault":"status","code":403,"skip":3,"times":2}]'
try '[{"where":"hub","method":"POST","path":"batch|preupload|complete|verify","fault":"status","code":503,"times":2}]'
try '[{"where":"hub","method":"POST","path":"commit","fault":"status","code":503,"times":1}]'
control /_set '{"ignored": ["*.txt"]}' >/dev/null
echo more >model/sub/deep/other.txt
wb push hf://o/m model --json >out
grep -q '"is_ignored":true' out
[ ! -e hub/o/m/sub/deep/other.txt ]
rm model/sub/deep/other.txt
control /_set '{"ignored": []}' >/dev/null

# A killed push continues: contents that arrived completely are not sent again, and no file appears before the commit.
python3 -c 'import os; open("model/a.safetensors", "r+b").write(os.urandom(16)); open("model/sub/b.gguf", "r+b").write(os.urandom(16))'
control /_set '{"part_bytes": 0}' >/dev/null
rules '[{"where":"cdn","method":"PUT","fault":"slow","rate":1500000}]'
wb push hf://o/m model >out 2>err &
pid=$!
i=0
while ! hub_log | grep -q 'POST /verify'; do
    i=$((i + 1))
    [ $i -lt 200 ] || { echo "nothing is sent"; cat err; exit 1; }
    sleep 0.1
done
kill -9 $pid
wait $pid || true
if cmp -s model/a.safetensors hub/o/m/a.safetensors; then exit 1; fi
rules '[]'
wb push hf://o/m model >out
same model ''
[ "$(puts)" = 1 ]

# Refusals
rules '[]'
echo x >model/new.txt
fails 4 'branch' "hf://o/m@$commit" model
fails 4 'hf://' https://example.org/x model
fails 4 'twice\|two files' hf://o/m model/new.txt model/sub/../new.txt
fails 5 'No such file' hf://o/m nowhere
ln -s /etc/passwd model/link
fails 5 '' hf://o/m model
rm model/link
(
    unset HF_TOKEN
    fails 5 'refuses access' hf://o/m model
)
rules '[{"where":"hub","path":"commit","fault":"status","code":412}]'
fails 5 'status 412' hf://o/m model
[ ! -e hub/o/m/new.txt ]
rules '[{"where":"hub","path":"batch|preupload","fault":"html"}]'
fails 5 'web page' hf://o/m model
HF_HUB_OFFLINE=1 fails 5 '' hf://o/m model
