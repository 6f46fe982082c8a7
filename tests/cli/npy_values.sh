# The values of .npy and .npz files have the same digests however they are stored, and survive conversion.
digest() { "$WB" hash --no-tensors "$1" | sed -n 3p | cut -c3-66; }
table() { "$WB" hash "$1" | sed -n '/^values of tensors/,$p' | sed 1d; }
cp "$DATA"/npy/*.npz .
table stored.npz >stored
# An array stored row-major, column-major, big-endian, or column-major and big-endian has the same digest.
for name in i4 f8 c8; do
    [ "$(grep -c "  $name" stored)" = 4 ] || exit 1
    [ "$(grep "  $name" stored | cut -c3-66 | sort -u | wc -l)" = 1 ] || exit 1
done
files=stored.npz
"$WB" verify deflated.npz >said 2>&1 && files="stored.npz deflated.npz" || grep -q no-zlib said
for file in $files; do
    [ "$(digest $file)" = "$(digest stored.npz)" ] || exit 1
    "$WB" convert $file $file.safetensors --to safetensors
    [ "$(digest $file.safetensors)" = "$(digest stored.npz)" ] || exit 1
done
