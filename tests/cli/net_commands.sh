# Every command that opens a model takes the address of one, with the same result as for a path; the others refuse
# addresses.
. "$SOURCE/tests/net/servers.sh"
has_network || exit 77
mkdir -p web
cp -r "$DATA/models/qwen3-4bit-3shards" web/model
cp -r "$DATA/models/qwen3-bf16" web/other
wb convert web/other web/m.gguf --to gguf >/dev/null 2>&1
for name in tokenizer.json generation_config.json; do echo '{}' >web/other/$name; done
start_nginx web

run() { # NAME COMMAND...: the output and the exit code, with addresses and paths made equal
    name=$1
    shift
    code=0
    wb "$@" >out 2>err </dev/null || code=$?
    { cat out err; echo "exit $code"; } | sed "s|$WEB/|X/|g; s|web/|X/|g" >"$name"
}
same() { # ARGUMENTS, with @ in place of the folder
    run local.txt $(echo "$@" | sed 's|@|web|g')
    run remote.txt $(echo "$@" | sed "s|@|$WEB|g")
    diff -u local.txt remote.txt || { echo "differs: $*" >&2; exit 1; }
    ! grep -q 'exit [345]' local.txt || { cat local.txt >&2; exit 1; }
}
tensor=layers.0.attention.q.weight
for path in @/model/ @/m.gguf; do
    same inspect $path
    same inspect --json $path
    same verify $path
    same verify --deep $path
    same doctor $path
    same hash $path
    same hash --json $path
    same get $path $tensor -o -
    same export $path $tensor --dtype f32 --format raw -o -
done
same diff @/model/ @/m.gguf
same diff @/other/model.safetensors @/m.gguf
wb load "$WEB/m.gguf" >out
same export @/m.gguf $tensor --format raw -o -
same inspect @/model/model-00001-of-00003.safetensors

# conversions
for to in gguf safetensors mlx; do
    for path in model/ m.gguf other/model.safetensors; do
        rm -rf a b
        wb convert "web/$path" a --to $to >a.out 2>&1 || continue
        wb convert "$WEB/$path" b --to $to >b.out 2>&1 || { cat b.out >&2; exit 1; }
        diff -r a b || { echo "$path to $to differs" >&2; exit 1; }
    done
done

refuse() { # CODE TEXT COMMAND...
    code=0
    want=$1 text=$2
    shift 2
    wb "$@" >out 2>err </dev/null || code=$?
    [ $code = "$want" ] && grep -q -- "$text" err || { echo "wb $*: $code" >&2; cat out err >&2; exit 1; }
}
refuse 4 'sandbox' inspect --sandbox "$WEB/m.gguf"
refuse 4 'not at an address' convert web/m.gguf "$WEB/x.gguf"
refuse 4 'takes no addresses' edit "$WEB/m.gguf" --rename a=b
refuse 4 'retries' inspect --retries many "$WEB/m.gguf"
