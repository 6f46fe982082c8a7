# Compressed archives give the same results as stored ones, or an error that zlib is missing (32-bit builds on a
# 64-bit machine).
here=$PWD
cd "$DATA/npy"
if ! "$WB" verify deflated.npz >"$here/said" 2>&1; then
    grep -q no-zlib "$here/said"
    exit
fi
for name in b1 i8.both f4 f4.columns f4.swapped bf16 scalar empty deep/name.weight; do
    "$WB" export stored.npz $name -o "$here/stored"
    "$WB" export deflated.npz $name -o "$here/deflated"
    cmp "$here/stored" "$here/deflated"
done
"$WB" export large.npz a --slice '::-1' --format raw -o "$here/backwards"
"$WB" export large.npz a --slice '0' --format raw -o "$here/first"
tail -c 1204 "$here/backwards" | cmp - "$here/first"
"$WB" inspect --json large.npz | grep -q '"stored":\["deflated"\]'
