# Tables of families that the user adds: --family FILE, and the folder $XDG_CONFIG_HOME/weighbridge/families.
refused() { # exit code, text in the message, then the arguments of wb
    expected=$1
    text=$2
    shift 2
    code=0
    timeout 20 wb "$@" >answer 2>message || code=$?
    if [ "$code" != "$expected" ] || ! { [ -z "$text" ] || grep -qF -e "$text" message; }; then
        echo "wb $*: exit code $code" >&2
        cat message >&2
        exit 1
    fi
}
copy() { # FOLDER MODEL_TYPE CLASS: the tiny Qwen 3 as a model of another type, in a folder that gives it the same name
    mkdir -p "$1"
    cp -r "$DATA/models/qwen3-bf16" "$1/model"
    chmod -R u+w "$1"
    sed -i "s/\"qwen3\"/\"$2\"/; s/Qwen3ForCausalLM/$3/" "$1/model/config.json"
    grep -q "$2" "$1/model/config.json"
    grep -q "$3" "$1/model/config.json"
}
copy known qwen3 Qwen3ForCausalLM
copy new mymodel MyModelForCausalLM
wb convert known/model known.gguf

# The message about the unknown type contains a table, which converts the model.
refused 3 '"mymodel" is unknown; the most similar family is qwen2, which has 35 of the 35 tensor names' \
    convert new/model new.gguf
grep -q -e '--family FILE' message
[ ! -e new.gguf ]
sed -n 's/.*: "\(family [^"]*\)", and "\(type [^"]*\)".*/\1\n\2/p' message >suggested.family
[ "$(cat suggested.family)" = "family mymodel : qwen2
type mymodel" ]
wb convert new/model suggested.gguf --family suggested.family
wb diff known.gguf suggested.gguf --only values

# With a table that differs from the built-in one only in the names, the GGUF file differs only in them.
printf 'family mymodel : qwen3\ntype mymodel\nclass MyModelForCausalLM\n' >alias.family
wb convert new/model alias.gguf --family alias.family
cmp known.gguf alias.gguf
printf 'family mymodel : qwen3\ngguf mymod\ntype mymodel\nclass MyModelForCausalLM\n' >my.family
sed -i 's/mymod$/mynew/' my.family
wb convert new/model my.gguf --family my.family
LC_ALL=C sed 's/qwen3/mynew/g' known.gguf | cmp - my.gguf
refused 1 '' diff known.gguf my.gguf --family my.family
wb convert new/model q8.gguf --quant Q8_0 --family my.family
wb convert known/model q8-known.gguf --quant Q8_0
LC_ALL=C sed 's/qwen3/mynew/g' q8-known.gguf | cmp - q8.gguf

# The way back writes the class and type of the table.
refused 3 '"family mynew : qwen2", and "gguf mynew"' convert my.gguf back --to safetensors
wb convert my.gguf back --to safetensors --family my.family
grep -q MyModelForCausalLM back/config.json
grep -q '"mymodel"' back/config.json
wb diff new/model back --only values,names --family my.family

# Every subcommand that opens models uses the table.
wb inspect new/model --names canonical --family my.family | grep -q layers.0.attention.q_norm.weight
wb inspect new/model --config --family my.family | grep -q 'architecture *mynew *file'
wb verify my.gguf --family my.family --json >answer
[ "$(grep -c architecture-unknown answer)" = 0 ]
wb verify my.gguf --json >answer
grep -q architecture-unknown answer
wb diff new/model my.gguf --family my.family | tail -1 | grep -q '0 of 804,096 values differ'
digest() { # PATH: the digest of all values
    wb hash --no-tensors --family my.family "$1" | awk 'found { print $1; exit } /^all values/ { found = 1 }'
}
[ "$(digest new/model | wc -c)" = 65 ]
[ "$(digest new/model)" = "$(digest my.gguf)" ]
wb get my.gguf layers.1.ffn.gate.weight --policy keep -o gate.gguf --family my.family
wb get known/model layers.1.ffn.gate.weight --policy keep -o gate.known
cmp gate.gguf gate.known
wb export new/model layers.0.attention.q.weight -o q.raw --family my.family
wb load new/model --family my.family >/dev/null
wb doctor new/model --family my.family >/dev/null

# The table finds what is missing.
python3 -B - <<'P'
import json, struct
path = "new/model/model.safetensors"
raw = open(path, "rb").read()
n = struct.unpack("<Q", raw[:8])[0]
header = json.loads(raw[8:8 + n])
text = json.dumps({k.replace("layers.2.mlp.up_proj", "layers.2.mlp.other"): v for k, v in header.items()}).encode()
open(path, "wb").write(struct.pack("<Q", len(text)) + text + raw[8 + n:])
P
wb verify new/model
refused 1 '' verify new/model --family my.family
grep -q tensor-missing answer
rm -r new
copy new mymodel MyModelForCausalLM

# A statement of the table changes the names.
{ cat my.family && echo 'tensor L.ffn.up [ffn_dim, dim] | L.mlp.up_proj | B.my_up | role up'; } >renamed.family
wb convert new/model renamed.gguf --family renamed.family
wb inspect renamed.gguf --tensors | grep -q blk.2.my_up.weight
wb convert renamed.gguf again --to safetensors --family renamed.family
wb diff new/model again --only names,values --family renamed.family

# Several tables; a base in another file; a table with the name of a built-in one.
printf 'family base : qwen3\n' >base.family
printf 'family mymodel : base\ntype mymodel\n' >derived.family
wb convert new/model several.gguf --family derived.family --family base.family
cmp known.gguf several.gguf
refused 2 'there is no table with this name' inspect new/model --family derived.family
printf 'family qwen3 : qwen3\ntype mymodel\n' >replaced.family
wb convert new/model replaced.gguf --family replaced.family
cmp known.gguf replaced.gguf
wb convert known/model same.gguf --family replaced.family
cmp known.gguf same.gguf

# The user's folder is always read, before the sandbox is entered; --family goes first.
folder=$XDG_CONFIG_HOME/weighbridge/families
mkdir -p "$folder"
cp derived.family "$folder/a.family"
cp base.family "$folder/b.family"
echo nonsense >"$folder/.hidden.family"
echo nonsense >"$folder/notes.txt"
wb convert new/model folder.gguf
cmp known.gguf folder.gguf
wb convert new/model first.gguf --family my.family
cmp my.gguf first.gguf
case $(wb inspect known/model --sandbox 2>&1) in
*'--sandbox needs'* | *'no sandbox'*) ;; # a system without it
*)
    wb inspect new/model --names canonical --sandbox | grep -q layers.0.attention.q_norm.weight
    wb inspect new/model --config --sandbox --family my.family | grep -q 'architecture *mynew *file'
    ;;
esac
rm "$folder"/a.family
HOME=$PWD/home
mkdir -p home/.config/weighbridge
cp -r "$folder" home/.config/weighbridge
cp alias.family home/.config/weighbridge/families
(unset XDG_CONFIG_HOME && export HOME && wb convert new/model home.gguf)
cmp known.gguf home.gguf
echo nonsense >"$folder/c.family"
refused 2 "c.family: at byte 0: \"nonsense\": line 1, statement 'family': expected 'family'" inspect known/model
refused 4 'no option' list --family my.family
rm "$folder"/*

# Errors name file, line and statement.
printf '# A table\nfamily mymodel : qwen3\ntype mymodel\nkey a u64 = 1\n' >wrong.family
refused 2 "wrong.family: at byte 52: \"u64\": line 4, statement 'key': this word is not possible here" \
    inspect new/model --family wrong.family
grep -q 'docs/dev/adding-a-family.md' message
refused 2 '' verify new/model --family wrong.family --json
python3 -B -c 'import json; e = json.load(open("answer")); assert e["error"]["code"] == "family-table", e'
refused 5 'none.family: cannot read the file' inspect new/model --family none.family
refused 4 '--family needs' inspect new/model --family

# Hostile tables
python3 -B - <<'P'
def write(name, text):
    open(name + ".family", "w").write(text)
write("doubling", "family a : qwen3\ntype mymodel\n" + "".join(f"let x{i} = x{i + 1} + x{i + 1}\n" for i in range(60)))
write("nested", "family a\nlet x = " + "(" * 500000 + "\n")
write("long", "family a\n" + "#" * (1 << 20) + "\n")
write("statements", "family a\n" + "let x = 1\n" * 2000)
write("layers", "family a : qwen3\ntype mymodel\n" + "".join(
    f"key k{i} u32[] = count(layer_types) + tensor(layers.{{n}}.x) + i\n" for i in range(1000)))
write("self", "family a : a\n")
write("nul", "family a\0 : qwen3\n")
write("circle1", "family a : b\n")
write("circle2", "family b : a\n")
P
for table in doubling nested long statements layers self nul; do
    refused 2 '' convert new/model hostile.gguf --family "$table.family"
done
refused 2 'inherits from itself' inspect new/model --family circle1.family --family circle2.family
set --
i=0
while [ $i -lt 257 ]; do
    i=$((i + 1))
    set -- "$@" --family my.family
done
refused 2 'there are 257 family tables; the limit is 256' inspect new/model "$@"
