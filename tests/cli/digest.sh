# A blob whose bytes do not match the digest in its name.
PYTHONPATH=$SOURCE/tests/cli python3 -B "$SOURCE/tests/cli/stores.py"
wb verify --store store plain >out
got=0
wb verify --store store wrong >out || got=$?
[ $got = 1 ]
grep -q 'ollama-blob-digest' out
got=0
wb doctor --store store --json wrong >out || got=$?
[ $got = 1 ]
grep -q '"verdict":"flawed"' out
# Blobs opened by their paths: one that is refused because of the damage, and one that still opens.
for blob in store/blobs/*; do
    size=$(wc -c <"$blob")
    head -c $((size - 1)) "$blob" >cut
    cp cut "$blob"
    got=0
    wb verify "$blob" >out || got=$?
    [ $got != 0 ]
    grep -q 'ollama-blob-digest' out || grep -q 'json-text\|\[text\]\|format-unknown' out
done
