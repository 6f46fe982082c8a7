# Files in the cache of a hub are compared with the digests that name their blobs: SHA-256, or the SHA-1 of git.
mkdir -p hub/models--o--m/blobs hub/models--o--m/snapshots/main
cd hub/models--o--m
file=$DATA/models/qwen3-bf16/model.safetensors
sha256=$(sha256sum <"$file" | cut -d' ' -f1)
sha1=$({ printf 'blob %d\0' "$(wc -c <"$file")"; cat "$file"; } | sha1sum | cut -d' ' -f1)
for name in $sha256 $sha1; do
    cp "$file" "blobs/$name"
    ln -sf "../../blobs/$name" snapshots/main/model.safetensors
    wb verify --deep snapshots/main >/dev/null
    wb verify --deep "blobs/$name" >/dev/null
    # Looking for leaks takes another process.
    ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" wb verify --deep --sandbox snapshots/main >/dev/null 2>err ||
        grep -q -e '--sandbox needs' err
    printf '\0' | dd of="blobs/$name" bs=1 seek=50000 conv=notrunc 2>/dev/null
    for path in snapshots/main "blobs/$name"; do
        code=0
        wb verify --deep "$path" >out || code=$?
        [ $code = 2 ] && grep -q 'file-digest' out || { cat out; exit 1; }
    done
done
# Other names are no digests.
mkdir other
cp "$file" other/model.safetensors
ln -s ../other/model.safetensors "snapshots/$sha256"
wb verify --deep "snapshots/$sha256" >/dev/null
wb verify --deep other >/dev/null
